import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { installExamples } from '../support/facegate/install-examples.ts'
import { rootDir } from '../support/paths.ts'

let folder: string

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-examples-'))
  await installExamples(folder)
  await symlink(path.join(rootDir, 'node_modules/mqtt'), path.join(folder, 'node_modules/mqtt'))
})
after(() => rm(folder, { recursive: true, force: true }))

const threshold = 'THRESHOLD must be a number from 0.8 to 1: set 0.9, or remove it'
const port = 'PORT must be a whole number from 0 to 65535: set 3000, or remove it'
const wait = 'must be a whole number of milliseconds, 1 to 999999999: set'
const http = 'must be an address that begins with http:// or https://, for example'
const cases = [
  ['door/door.mjs', 'THRESHOLD', ['0,9', '90', '-1', 'NaN', '0x0', '1.01', '0', '.79'], threshold],
  ['kiosk/server.mjs', 'PORT', ['http', '70000', '-1', '1.5'], port],
  ['liveness-check/server.mjs', 'PORT', ['3000/tcp'], port],
  ['frigate/bridge.mjs', 'FRIGATE_RETRY_MS', ['5s', '0'], `${wait} 5000, or remove it`],
  ['frigate/bridge.mjs', 'MQTT_RECONNECT_MS', ['0', '1e3'], `${wait} 1000, or remove it`],
  [
    'frigate/bridge.mjs',
    'MQTT_URL',
    ['192.0.2.10', '192.0.2.10:1883', 'broker:1883', 'http://192.0.2.10'],
    'MQTT_URL must be an address that begins with mqtt:// or mqtts://, for example mqtt://127.0.0.1:1883',
  ],
  ['frigate/bridge.mjs', 'FRIGATE_URL', ['192.0.2.10:5000'], `${http} http://127.0.0.1:5000`],
  ['frigate/bridge.mjs', 'FACEGATE_URL', ['facegate:8080'], `${http} http://127.0.0.1:8080`],
] as const

for (const [example, name, values, rule] of cases)
  test(`${example} ends with the rule of ${name} if it is invalid`, async () => {
    const message = rule.startsWith(name) ? rule : `${name} ${rule}`
    for (const value of values) {
      const env = { ...process.env, FACEGATE_KEY: 'fsk_live_x', [name]: value }
      const options = { cwd: path.join(folder, path.dirname(example)), env, timeout: 30_000 }
      const program = promisify(execFile)(process.execPath, [path.basename(example), '.'], options)
      await assert.rejects(program, { code: 1, stderr: `${message}\n` }, value)
    }
  })
