// Bundles the program into dist/: one file that needs nothing but Node 24 (and git, kustomize, sops on PATH for their jobs).
import { chmod, readFile } from 'node:fs/promises';
import { build } from 'esbuild';

const { version } = JSON.parse(await readFile(new URL('./package.json', import.meta.url), 'utf8'));

await build({
  entryPoints: ['src/main.ts'],
  outfile: 'dist/gitops-reverser.mjs',
  bundle: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  sourcemap: true,
  legalComments: 'linked',
  define: { 'process.env.GITOPS_REVERSER_VERSION': JSON.stringify(version) },
  banner: {
    // Some dependencies are CommonJS and call require() for Node's own modules.
    js: "#!/usr/bin/env node\nimport { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
await chmod('dist/gitops-reverser.mjs', 0o755);
