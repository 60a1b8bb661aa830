import { inheritedSettings } from '../database/engine.ts'
import { startGate } from './test-gate.ts'

/**
 * Runs the HTTP server and the gate of `test-gate.ts` in a separate process, so that it can be killed.
 * `FAIL_AT=step:count`: the process kills itself at that step, after it passed the step `count` times.
 */
const [step, passCount = '0'] = (process.env['FAIL_AT'] ?? '').split(':')
let remainingPasses = Number(passCount)

function failAtStep(now: string): void {
  if (now === step && remainingPasses-- === 0) process.kill(process.pid, 'SIGKILL')
}

const { DATA_DIR: dataDir = '', KEY: key = '' } = process.env
const gate = await startGate({
  dataDir,
  environment: { STARTER_CREDIT_MICROS: '1000000000', ...inheritedSettings() },
  beforeStep: failAtStep,
  onCommit: failAtStep,
  ...(key && { key }),
})
process.on('message', () => {
  process.send?.({ runs: [...gate.runCounts.values()].reduce((sum, runs) => sum + runs, 0) })
})
process.once('SIGTERM', () => void gate[Symbol.asyncDispose]().then(() => process.exit(0)))
process.send?.({ url: gate.url, key: gate.key })
