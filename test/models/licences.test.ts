import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { builtinPack } from '../../src/models/builtin/builtin-pack.ts'
import { builtinSet } from '../../src/models/model-set.ts'
import { requireLicences } from '../../src/models/require-licences.ts'
import { runCli, runCliProcess } from '../support/cli/run-cli.ts'
import { createDataDir, startFacegate } from '../support/facegate/test-facegate.ts'
import { startModelsCli, type ModelsCli } from '../support/models/models-cli.ts'
import { smallLiveness } from '../support/models/small-network.ts'

const builtinNames = Object.keys(builtinPack.models).map((id) => `builtin/${id}`)
const commercial = { MODEL_LICENCES: 'commercial' } as const

let cli: ModelsCli
before(async () => {
  cli = await startModelsCli()
  const licences = { permitted: 'allowed', forbidden: 'forbidden', unclear: 'unclear' } as const
  for (const [name, commercialUse] of Object.entries(licences)) {
    const licence = { name: 'of a test', commercialUse }
    const pack = await cli.writePack(name, [smallLiveness('net', { licence })])
    await cli.run('install', pack, '--accept-licence')
  }
})
after(async () => {
  delete process.env['MODEL_LICENCES']
  await cli[Symbol.asyncDispose]()
})

test('MODEL_LICENCES=commercial refuses a start, and names each network and the remedy', async (t) => {
  const dataDir = await createDataDir()
  t.after(() => rm(dataDir, { recursive: true }))
  const { code, err } = await runCliProcess(['serve'], {
    ...commercial,
    DATA_DIR: dataDir,
    PORT: '0',
  })
  assert.equal(code, 1)
  for (const name of builtinNames) assert.ok(err.includes(`${name} (unclear)`), name)
  assert.match(err, /facegate models list --commercial.*in MODEL_LICENCES_CLEARED\n$/u)
})

test('a service starts with networks whose licences are cleared', async () => {
  const MODEL_LICENCES_CLEARED = builtinNames.join(', ')
  await using facegate = await startFacegate({ ...commercial, MODEL_LICENCES_CLEARED })
  assert.equal((await fetch(`${facegate.url}/readyz`)).status, 200)
})

test('only networks in use are refused: those that a pack replaces are not', async () => {
  const settings = (MODEL_LICENCES_CLEARED: string) => ({ ...commercial, MODEL_LICENCES_CLEARED })
  const liveness = 'builtin/liveness'
  const others = builtinNames.filter((name) => name !== liveness).join()
  const check = (set: object, cleared = others) =>
    requireLicences(settings(cleared), cli.modelsFolder, { ...builtinSet, ...set })
  await assert.rejects(check({}), /commercial use: builtin\/liveness \(unclear\)\. Select/u)
  const ofPack = (name: string) => ({
    liveness: [{ folder: cli.installedPath(name), model: smallLiveness('net') }],
  })
  await check(ofPack('permitted'))
  await assert.rejects(check(ofPack('forbidden')), /use: forbidden\/net \(forbidden\)\./u)
  await check(ofPack('forbidden'), `${others},forbidden/net`)
  await assert.rejects(
    check({}, 'builtin/absent'),
    /MODEL_LICENCES_CLEARED: builtin\/absent is not a network of facegate models list/u,
  )
})

test('models use refuses a network that MODEL_LICENCES does not permit', async () => {
  const use = (name: string, settings: Readonly<Record<string, string>> = commercial) =>
    runCli(['models', 'use', name], settings)
  for (const name of ['forbidden', 'unclear']) {
    const { code, err } = await use(name)
    assert.equal(code, 1)
    assert.match(err, new RegExp(`commercial use: ${name}/net \\(${name}\\)\\.`, 'u'))
  }
  assert.equal((await use('permitted')).code, 0)
  const builtin = await use('builtin')
  assert.match(builtin.err, /commercial use: builtin\/liveness \(unclear\)\./u)
  assert.equal((await use('forbidden', { MODEL_LICENCES: 'any' })).code, 0)
  const doctor = await runCli(['doctor', '--json'], { ...commercial, PORT: '1' })
  const problems: { check: string; problem: string }[] = JSON.parse(doctor.out)
  const { problem = '' } = problems.find(({ check }) => check === 'models') ?? {}
  assert.match(problem, /builtin\/facemesh \(unclear\).*forbidden\/net \(forbidden\)/u)
})
