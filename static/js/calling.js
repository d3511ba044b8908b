// Pages with the box under the code and nothing else of the review page.

import * as calls from "./calls.js";
import * as drafts from "./drafts.js";
import * as keys from "./keys.js";
import * as lines from "./lines.js";

calls.listen();
drafts.listen();
drafts.prepare(document);
keys.listen();
lines.listen();
