import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { runCli } from '../support/cli/run-cli.ts'
import { databaseSettings } from '../support/database/engine.ts'
import { rootDir } from '../support/paths.ts'
import { echoRequest, startGate, type TestGate } from '../support/gate/test-gate.ts'

let gate: TestGate
let environment: Readonly<Record<string, string>>
before(async () => {
  gate = await startGate()
  environment = { DATA_DIR: gate.dataDir, ...(await databaseSettings(gate.dataDir)) }
})
after(() => gate[Symbol.asyncDispose]())

const run = (...args: string[]) => runCli(args, environment)

/** Returns the printed text, with ordinary spaces. */
async function textOf(...args: string[]): Promise<string> {
  const { code, out, err } = await run(...args)
  assert.equal(code, 0, err)
  return out.replaceAll('\u202F', ' ')
}

test('project set and project show print every setting with the name of its option', async () => {
  await textOf('project', 'create', 'gate')
  const set = await textOf(
    ...'project set gate --threshold 0.85 --retention-days 30 --store-crops on'.split(' '),
    ...'--gender off --auto-enroll on --burst 7'.split(' '),
  )
  const expected = {
    name: 'gate',
    gallery: 'isolated',
    sustained: 'default',
    burst: '7',
    'retention-days': '30',
    threshold: '0.85',
    gender: 'off',
    expression: 'on',
    'store-crops': 'on',
    'auto-enroll': 'on',
    billing: 'on',
  }
  const shown = await textOf('project', 'show', 'gate')
  assert.equal(shown, set)
  for (const [name, value] of Object.entries(expected))
    assert.match(shown, new RegExp(`^${name} +${value}$`, 'mu'))
  const { identifyThreshold, retentionDays, switches } = JSON.parse(
    await textOf('project', 'show', 'gate', '--json'),
  )
  assert.deepEqual([identifyThreshold, retentionDays, switches.storeCrops], [0.85, 30, true])
  const unknown = await run('project', 'show', 'gatt')
  assert.match(unknown.err, /there is no project gatt/u)
})

test('wallet show, log and key list print names beside ids', async () => {
  const { projectId } = JSON.parse(await textOf('project', 'create', 'kiosk', '--json'))
  const created = JSON.parse(
    await textOf(...'key create --project kiosk --name entrance --json'.split(' ')),
  )
  await textOf('project', 'set', 'kiosk', '--billing', 'off')
  await gate.withKey(created.key).post(echoRequest('x'))

  assert.match(await textOf('wallet', 'show'), new RegExp(`budget of kiosk +${projectId} `, 'u'))
  const { budgets } = JSON.parse(await textOf('wallet', 'show', '--json'))
  assert.ok(budgets.some((row: Record<string, string>) => row['projectName'] === 'kiosk'))

  const keys = await textOf('key', 'list', '--project', 'kiosk')
  assert.match(keys, new RegExp(`${created.keyId} +entrance .* kiosk +${projectId}`, 'u'))
  const [listed] = JSON.parse(await textOf('key', 'list', '--project', 'kiosk', '--json'))
  assert.equal(listed.projectName, 'kiosk')

  const log = await textOf('log', '--project', 'kiosk')
  assert.match(log, new RegExp(` entrance +${created.keyId} +kiosk +${projectId}$`, 'mu'))
  const entry = JSON.parse(await textOf('log', '--project', 'kiosk', '--json'))
  assert.deepEqual([entry.keyName, entry.projectName], ['entrance', 'kiosk'])
})

test('amounts in messages and tables have their currency', async () => {
  await textOf('project', 'create', 'paid')
  const topUp = await textOf('wallet', 'top-up', '--amount', '2500000')
  assert.match(topUp, /^wallet: [\d .]+ USD \(\d+ micros\)$/mu)
  const allocated = await textOf('budget', 'allocate', '--project', 'paid', '--amount', '1500000')
  assert.equal(allocated, 'budget: 1.50 USD (1500000 micros), 0.00 USD of it reserved\n')
  assert.equal(await textOf('budget', 'show', '--project', 'paid'), allocated)
  assert.match(await textOf('wallet', 'show'), /budget of paid +\S+ +1\.50 USD +0\.00 USD/u)
  assert.match(await textOf('price', 'show'), /svc\.detect +0\.001 USD +1000$/mu)
  const shortage = await run('budget', 'allocate', '--project', 'paid', '--amount', '99000000')
  assert.equal(shortage.code, 1)
  assert.match(shortage.err, /^facegate: The wallet has less than 99\.00 USD\. Top up the wallet/u)
})

test('the log is not filtered by a key, an action or a route that does not exist', async () => {
  const unknownKey = '00000000-0000-4000-8000-000000000000'
  for (const [args, message] of [
    [['--key', unknownKey], new RegExp(`there is no key ${unknownKey}; facegate key list`, 'u')],
    [['--action', 'svc.nothing'], /--action: svc\.nothing is not valid; use /u],
    [['--action', 'GET /v1/subject'], /--action: GET \/v1\/subject is not valid; did you mean /u],
    [['--action', 'PUT /v1/subjects'], /--action: PUT \/v1\/subjects is not valid/u],
  ] as const) {
    const { code, out, err } = await run('log', ...args)
    assert.notEqual(code, 0, args.join(' '))
    assert.equal(out, '')
    assert.match(err, message)
  }
  assert.equal((await run('log', '--action', 'GET /v1/subjects')).code, 0)
})

test('an option that is a setting of the environment names the setting', async () => {
  for (const [args, message] of [
    [['serve', '--port', '9000'], /--port is not an option .*; set PORT in the environment/u],
    [['wallet', 'show', '--data-dir=x'], /; set DATA_DIR in the environment/u],
  ] as const) {
    const { code, err } = await run(...args)
    assert.equal(code, 2)
    assert.match(err, message)
  }
})

test('the guide to another recognizer shows the lines that models status prints', async () => {
  const guide = await readFile(path.join(rootDir, 'docs/recognition/changing-models.md'), 'utf8')
  const linesOf = (text: string): string[] =>
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => /^(?:faces|subjects) .*: \d+$/u.test(line))
      .map((line) => line.replace(/[\w-]+@\d+/u, '<model>').replace(/\d+$/u, '<n>'))
  const printed = linesOf(await textOf('models', 'status'))
  assert.equal(printed.length, 4)
  assert.deepEqual(linesOf(guide), printed)
})
