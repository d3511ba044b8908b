// The page of a decision: its keys choose a value, and store nothing.

import * as keys from "./keys.js";

keys.listen();
