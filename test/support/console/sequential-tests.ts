import { test, type TestContext } from 'node:test'

type SequentialTest = (name: string, run: (t: TestContext) => Promise<void>) => void

/** Tests that each stand on those before them: after a failure the others would only wait. */
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
