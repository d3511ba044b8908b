// Pages with keys and nothing else: that of a decision, where they choose a value and store nothing, and that of a
// finished study, where one undoes the last label.

import * as keys from "./keys.js";

keys.listen();
