// Dots while it runs, failures in full, the skipped ones by name, and one plain closing line.
const { reporters, Runner } = require('mocha');

module.exports = class extends reporters.Base {
  constructor(runner, options) {
    super(runner, options);
    const skipped = [];
    let passed = 0;
    runner.on(Runner.constants.EVENT_TEST_PASS, (test) => {
      passed += 1;
      process.stdout.write(test.speed === 'slow' ? 'o' : '.');
    });
    runner.on(Runner.constants.EVENT_TEST_FAIL, (test) =>
      process.stdout.write(`\nFAIL ${test.fullTitle()}\n`),
    );
    runner.on(Runner.constants.EVENT_TEST_PENDING, (test) => skipped.push(test.fullTitle()));
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      process.stdout.write('\n');
      if (this.failures.length > 0) reporters.Base.list(this.failures);
      for (const title of skipped) process.stdout.write(`skipped: ${title}\n`);
      const tail = skipped.length > 0 ? `, ${skipped.length} skipped` : '';
      process.stdout.write(`\n${passed} passed, ${this.failures.length} failed${tail}\n`);
    });
  }
};
