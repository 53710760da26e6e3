/** How the demo speaks. */

const wide = 78;

export function title(text: string): void {
  print(`\n── ${text} ${'─'.repeat(Math.max(2, wide - text.length))}`);
}

export function shown(command: string): void {
  print(`$ ${command}`);
}

export function say(text: string): void {
  print(`  ${text}`);
}

export function note(text: string): void {
  print(`  (${text})`);
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
