// Whether a character key is a command or text that missed its field: told from when it came and what came before.
// Knows no page and no clock, so that drawn times can be tried. Why so: docs/decisions/0060.

export const BURST_MS = 400; // two letters that are closer are being typed
export const QUIET_MS = 1600; // a pause that is longer ends a text
const UNSEEN_MS = 300; // a second press must not label the next pair before anybody can have seen it
const LOOK_MS = 2500; // who has typed nothing for so long has seen the new pair

const RIGHT_AFTER_A_LABEL = ["label", "move", "undo", "help"];

export class KeyRules {
  text = ""; // what came since the last pause, or since the last command that can't be the beginning of a word
  isText = false; // it missed its field: nothing of it is obeyed, and nothing that follows
  #last = null; // the last key that may be part of a word
  #otherAt = -Infinity; // when the last key came that stored no label
  #shownAt = -Infinity;
  #isAfterLabel = false;

  // "act" at once, "wait" whether another letter follows, "hold" whether anything follows, "lead" to the key after
  // it, "early" for a pair that nobody can have seen, "again" for a key that is held already, "text", or "none".
  judge(key, at, kind, isBusy = false) {
    if (this.isOver(at)) this.forget();
    if (key === " " && !this.text && at - this.#otherAt > QUIET_MS) return "none"; // it scrolls
    const verdict = this.#verdict(key, at, kind, isBusy);
    if (verdict === "early" || verdict === "again") return verdict;
    if (kind !== "label" || verdict === "text") this.#otherAt = at;
    this.text += key;
    this.isText = verdict === "text";
    this.#last = { key, at, kind, verdict };
    if (verdict === "act") this.acted(key, kind);
    return verdict;
  }

  // A command was obeyed. Only a letter that moves or undoes may turn out to be the beginning of a word.
  acted(key, kind) {
    if (kind !== "label") this.#isAfterLabel = false;
    if (isLetter(key) && kind !== "led") return;
    this.text = "";
    this.#last = null;
  }

  sendLabel() {
    this.#isAfterLabel = true;
  }

  // The page shows another pair, or the same form once more, which `goesOn` tells.
  show(at, goesOn) {
    this.#shownAt = at;
    this.#isAfterLabel &&= goesOn;
  }

  isRightAfterLabel(at) {
    return this.#isAfterLabel && at - Math.max(this.#shownAt, this.#otherAt) <= LOOK_MS;
  }

  isLed(at) {
    return this.#last?.verdict === "lead" && at - this.#last.at <= QUIET_MS;
  }

  // Whether what comes now begins anew. A command that was obeyed is part of a word only if a letter follows at once.
  isOver(at) {
    if (this.#last === null) return true;
    const isObeyed = ["act", "wait"].includes(this.#last.verdict);
    return at - this.#last.at > (isObeyed ? BURST_MS : QUIET_MS);
  }

  // Nothing that was typed so far is part of what comes now.
  forget() {
    this.text = "";
    this.isText = false;
    this.#last = null;
  }

  // A click, a field that was entered, Escape or Tab: what comes now is meant for what is on the screen.
  act() {
    this.forget();
    this.#otherAt = -Infinity;
    this.#isAfterLabel = false;
  }

  takeBack() {
    this.text = this.text.slice(0, -1);
  }

  #verdict(key, at, kind, isBusy) {
    if (this.isText) return "text";
    const last = this.#last;
    if (last?.verdict === "hold" || (last?.verdict === "wait" && at - last.at < BURST_MS)) {
      if (key !== last.key) return "text";
      if (last.verdict === "hold") return "again";
    }
    if (last?.verdict === "lead") return kind === "led" ? "act" : "text";
    if (kind === "label") return this.#verdictOnLabel(at, isBusy);
    if (!kind || this.#isBurst(key, at, kind)) return "text";
    if (!isBusy && !this.isRightAfterLabel(at)) return kind === "lead" ? "lead" : "act";
    if (!RIGHT_AFTER_A_LABEL.includes(kind)) return "text";
    return isLetter(key) ? "wait" : "act";
  }

  #verdictOnLabel(at, isBusy) {
    if (isBusy || at - this.#shownAt < UNSEEN_MS) return "early";
    return at - this.#otherAt <= QUIET_MS ? "hold" : "act";
  }

  #isBurst(key, at, kind) {
    const last = this.#last;
    if (!last || !isLetter(key) || key === last.key || at - last.at >= BURST_MS) return false;
    return !(kind === "move" && last.kind === "move");
  }
}

export function isLetter(key) {
  return /^\p{L}$/u.test(key);
}
