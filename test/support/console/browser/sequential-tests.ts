import { test, type TestContext } from 'node:test'

type SequentialTest = (name: string, run: (t: TestContext) => Promise<void>) => void

/** Defines tests that depend on the tests before them. After a failure the others are skipped. */
export function sequentialTests(): SequentialTest {
  let isBroken = false
  return (name, run) =>
    void test(name, async (t) => {
      if (isBroken) return t.skip('a step before this one failed')
      isBroken = true
      await run(t)
      isBroken = false
    })
}
