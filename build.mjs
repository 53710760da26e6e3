// Bundles the program into dist/. It needs nothing but Node 24 there (and git, kustomize, sops on PATH for their jobs).
import { chmod, readFile, rm } from 'node:fs/promises';
import { build } from 'esbuild';

const { version } = JSON.parse(await readFile(new URL('./package.json', import.meta.url), 'utf8'));

await rm('dist', { recursive: true, force: true });
await build({
  entryPoints: { 'gitops-reverser': 'src/main.ts' },
  outdir: 'dist',
  outExtension: { '.js': '.mjs' },
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  // The entry stays small, so that an older Node can still read it and say what is wrong.
  splitting: true,
  platform: 'node',
  target: 'node24',
  format: 'esm',
  sourcemap: true,
  // A smaller source is less memory for as long as the process lives; names stay, for readable stacks.
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'linked',
  define: { 'process.env.GITOPS_REVERSER_VERSION': JSON.stringify(version) },
  banner: {
    // Some dependencies are CommonJS and call require() for Node's own modules.
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
await chmod('dist/gitops-reverser.mjs', 0o755);
