/**
 * The floor of a restart: a bare Node process that reads a streaming list to its end, parses each line, and lists the files
 * of a commit. Arguments: URL of the collection, CA file, bare repository, how often; the token comes in BENCH_TOKEN.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { promisify } from 'node:util';

const [url = '', caFile = '', bareDir = '', times = '1'] = process.argv.slice(2);
const agent = new Agent({ ca: readFileSync(caFile) });
const headers = { authorization: `Bearer ${process.env.BENCH_TOKEN}` };

for (let time = 0; time < Number(times); time++) {
  await Promise.all([streamingList(), listFiles()]);
}
agent.destroy();

async function listFiles(): Promise<void> {
  const args = ['ls-tree', '-r', '-l', '-z', 'refs/heads/main'];
  await promisify(execFile)('git', args, { cwd: bareDir, maxBuffer: 64 * 1024 * 1024 });
}

function streamingList(): Promise<void> {
  const query =
    'watch=true&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&resourceVersion=';
  return new Promise((resolve, reject) => {
    const asked = request(`${url}?${query}`, { agent, headers }, (answer) => {
      let rest = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk: string) => {
        const lines = (rest + chunk).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          const { type } = JSON.parse(line);
          if (type !== 'BOOKMARK') continue;
          asked.destroy();
          resolve();
          return;
        }
      });
      answer.on('error', reject);
    });
    asked.on('error', reject);
    asked.end();
  });
}
