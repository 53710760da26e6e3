// Dots while it runs, failures in full, the skipped ones by name; what came out goes to the file that TEST_RESULTS names.
const { writeFileSync } = require('node:fs');
const { reporters, Runner } = require('mocha');

module.exports = class extends reporters.Base {
  constructor(runner, options) {
    super(runner, options);
    const skipped = [];
    const passed = [];
    const failed = [];
    runner.on(Runner.constants.EVENT_TEST_PASS, (test) => {
      passed.push(test.file ?? '');
      process.stdout.write(test.speed === 'slow' ? 'o' : '.');
    });
    runner.on(Runner.constants.EVENT_TEST_FAIL, (test) => {
      failed.push({ file: test.file ?? '', title: test.fullTitle() });
      process.stdout.write(`\nFAIL ${test.fullTitle()}\n`);
    });
    runner.on(Runner.constants.EVENT_TEST_PENDING, (test) => skipped.push(test.fullTitle()));
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      process.stdout.write('\n');
      if (this.failures.length > 0) reporters.Base.list(this.failures);
      const results = process.env.TEST_RESULTS;
      if (results !== undefined) writeFileSync(results, JSON.stringify({ passed, failed, skipped }));
    });
  }
};
