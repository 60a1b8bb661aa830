import { settings } from '../src/config.ts'
import { systemClock } from '../src/lib/clock.ts'
import { startGate } from './gate.ts'

/**
 * The front door of `gate.ts` as a process of its own, so that it can be killed. `FAIL_AT` names the
 * step, and how often it is passed before it fails; then the process kills itself there.
 */
const [step, passes = '0'] = (process.env['FAIL_AT'] ?? '').split(':')
let left = Number(passes)

function atStep(now: string): void {
  if (now === step && left-- === 0) process.kill(process.pid, 'SIGKILL')
}

const { DATA_DIR: dataDir = '', KEY: key = '' } = process.env
const environment = Object.keys(settings).flatMap((name) => {
  const value = process.env[name]
  return value === undefined ? [] : [[name, value] as const]
})
const gate = await startGate({
  dataDir,
  environment: { STARTER_CREDIT_MICROS: '1000000000', ...Object.fromEntries(environment) },
  clock: systemClock,
  atStep,
  atCommit: atStep,
  ...(key && { key }),
})
process.send?.({ url: gate.url, key: gate.key })
