/** Work for the moment this process ends: one listener, however many repositories are open. */

const tasks = new Set<() => void>();

function runAll(): void {
  for (const task of tasks) task();
}

/** The task must be synchronous. The function returned calls it off. */
export function onExit(task: () => void): () => void {
  if (tasks.size === 0) process.once('exit', runAll);
  tasks.add(task);
  return () => {
    tasks.delete(task);
    if (tasks.size === 0) process.removeListener('exit', runAll);
  };
}
