// Bundles CodeMirror into static/vendor/codemirror/: one ES module, its licences, and what went into it.
//
//     cd frontend && npm ci && npm run build
import { build } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const TARGET = join(HERE, "..", "static", "vendor", "codemirror");

const result = await build({
  absWorkingDir: HERE,
  entryPoints: ["codemirror.js"],
  outfile: join(TARGET, "codemirror.js"),
  bundle: true,
  format: "esm",
  target: "es2020",
  minify: true,
  legalComments: "none",
  metafile: true,
  banner: { js: "/* CodeMirror 6, bundled by frontend/build.mjs. MIT licences: LICENSES.txt; versions: versions.json */" },
});

const bundled = Object.keys(result.metafile.inputs)
  .map((path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1])
  .filter(Boolean);
const packages = [...new Set(bundled)].sort();
const manifest = (name) => JSON.parse(readFileSync(join(HERE, "node_modules", name, "package.json"), "utf8"));
const versions = Object.fromEntries(packages.map((name) => [name, manifest(name).version]));
const licences = packages.map((name) => {
  const text = readFileSync(join(HERE, "node_modules", name, "LICENSE"), "utf8").trim();
  return `${name} ${versions[name]}\n\n${text}\n`;
});

writeFileSync(join(TARGET, "versions.json"), JSON.stringify(versions, null, 2) + "\n");
writeFileSync(join(TARGET, "LICENSES.txt"), licences.join("\n" + "-".repeat(72) + "\n\n"));
