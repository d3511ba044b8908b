// Pages with keys and no drafts: that of a decision, where keys choose a value and store nothing, and lines of the
// function are marked; and that of a finished study, where one undoes the last label.

import * as keys from "./keys.js";
import * as marks from "./marks.js";

keys.listen();
marks.listen();
marks.prepare();
