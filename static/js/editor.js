// Turns a textarea into a Python editor. The textarea stays the form's field: what is typed goes there, so that
// sending and drafts know nothing of the editor. Tab moves on as everywhere; Ctrl+] and Ctrl+[ indent.

import {
  bracketMatching,
  defaultKeymap,
  drawSelection,
  EditorState,
  EditorView,
  highlightActiveLine,
  HighlightStyle,
  history,
  historyKeymap,
  indentOnInput,
  indentUnit,
  keymap,
  lineNumbers,
  python,
  syntaxHighlighting,
  tags,
} from "../vendor/codemirror/codemirror.js";

const COLOURS = HighlightStyle.define([
  { tag: tags.comment, color: "var(--code-comment)", fontStyle: "italic" },
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--code-number)" },
  { tag: [tags.function(tags.definition(tags.variableName)), tags.definition(tags.className)], color: "var(--code-name)" },
]);

const THEME = EditorView.theme({
  "&": { color: "var(--code-text)", backgroundColor: "var(--code-bg)", fontSize: "var(--size-1)", height: "100%" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6" },
  ".cm-gutters": { color: "var(--text-3)", backgroundColor: "var(--code-bg)", border: "0" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--accent) 8%, transparent)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": {
    background: "color-mix(in srgb, var(--accent) 28%, transparent) !important",
  },
});

const views = new WeakMap();

// An editor listens on the window and the document, and would keep the whole page alive that it stood on.
document.addEventListener("htmx:beforeCleanupElement", ({ target }) => {
  views.get(target)?.destroy();
  views.delete(target);
});

export function upgrade(field) {
  if (field.hidden || !field.isConnected) return;
  const holder = document.createElement("div");
  holder.className = "editor-holder";
  field.after(holder);
  field.hidden = true;
  const view = new EditorView({ parent: holder, state: stateOf(field) });
  // A key of the page that leads to the field leads here; where nothing was asked for, keys stay alive.
  field.addEventListener("enter", () => view.focus());
  field.addEventListener("restored", () => replace(view, field.value));
  if (field.autofocus) view.focus();
  views.set(field, view);
}

// Below what is there, in the sight of whoever asked for it, but above `before`: the lines that run the tests.
export function append(field, lines, before) {
  const view = views.get(field);
  const text = view.state.doc.toString();
  const start = before ? `\n${text}`.lastIndexOf(`\n${before}`) : -1;
  const to = start < 0 ? text.length : start;
  const from = text.slice(0, to).trimEnd().length;
  const insert = `\n\n${lines}\n`;
  const selection = { anchor: from + insert.length }; // what comes into view is the cursor
  view.dispatch({ changes: { from, to, insert: start < 0 ? insert : `${insert}\n` }, selection, scrollIntoView: true });
}

function replace(view, text) {
  const { doc } = view.state;
  if (doc.toString() !== text) view.dispatch({ changes: { from: 0, to: doc.length, insert: text } });
}

function stateOf(field) {
  return EditorState.create({
    doc: field.value,
    selection: { anchor: isBegun(field.value) ? 0 : field.value.length },
    extensions: [
      EditorView.cspNonce.of(document.querySelector("script[nonce]").nonce),
      keymap.of([
        { key: "Mod-Enter", run: () => send(field) },
        { key: "Escape", run: () => leave(field) },
        ...defaultKeymap,
        ...historyKeymap,
      ]),
      lineNumbers(),
      history(),
      drawSelection(),
      highlightActiveLine(),
      indentOnInput(),
      bracketMatching(),
      indentUnit.of("    "),
      EditorState.tabSize.of(4),
      python(),
      syntaxHighlighting(COLOURS),
      THEME,
      EditorView.contentAttributes.of({ "aria-label": field.labels[0].textContent, spellcheck: "false", tabindex: "0" }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) copy(field, update.state.doc.toString());
      }),
    ],
  });
}

// A test that has only comments is written below them.
function isBegun(source) {
  return source.split("\n").some((line) => /^\s*[^\s#]/.test(line));
}

function copy(field, text) {
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

function send(field) {
  field.form.querySelector("[data-primary]").click();
  return true;
}

function leave(field) {
  (field.closest(".panel").querySelector("[data-closes-editor]") ?? document.getElementById("case-title")).focus();
  return true;
}
