import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { readVerifiedActiveSet, writeActiveSet } from './active-set.ts'
import { listPacks, findInstalledModel, packFolder } from './installed-packs.ts'
import { builtinSet, type InstalledModel } from './model-set.ts'
import { sha256Of } from './sha256.ts'

let models: string
beforeEach(async () => {
  models = await mkdtemp(path.join(tmpdir(), 'facegate-active-'))
})
afterEach(() => rm(models, { recursive: true }))

const bytes = Buffer.from('a network')

/** Installs a pack with one recognizer whose file contains `bytes`. */
async function install(name: string, sha256: string | null = sha256Of(bytes)): Promise<void> {
  const folder = packFolder(models, name)
  const model = {
    id: 'net',
    version: '1',
    role: 'recognizer',
    file: 'net.onnx',
    sha256,
    licence: { name: 'MIT', commercialUse: 'allowed' },
    provenance: { origin: 'this test', trainingData: 'none' },
    input: { width: 112, height: 112, colourOrder: 'RGB' },
    decoding: { kind: 'arcface', dimensions: 128 },
  }
  await mkdir(folder, { recursive: true })
  const manifest = { schema: 1, name, description: 'a test pack', models: [model] }
  await writeFile(path.join(folder, 'pack.json'), JSON.stringify(manifest))
  await writeFile(path.join(folder, 'net.onnx'), bytes)
}

async function findInstalled(name: string): Promise<InstalledModel> {
  const pack = (await listPacks(models)).find(({ manifest }) => manifest.name === name)
  const model = pack && findInstalledModel(pack, 'net')
  assert.ok(model)
  return model
}

test('without active.json the built-in models are active', async () => {
  assert.deepEqual(await readVerifiedActiveSet(models), builtinSet)
  assert.deepEqual(await listPacks(models), [])
})

test('a written model set is read back unchanged', async () => {
  await install('mine')
  const recognizer = await findInstalled('mine')
  const set = { ...builtinSet, recognizer, formerRecognizers: ['builtin'] } as const
  await writeActiveSet(models, set)
  assert.deepEqual(await readVerifiedActiveSet(models), set)
  await writeActiveSet(models, builtinSet)
  assert.deepEqual(await readVerifiedActiveSet(models), builtinSet)
})

test('the error for a missing, altered or unsuitable pack or file names it and the remedy', async () => {
  await install('mine')
  await writeActiveSet(models, { ...builtinSet, recognizer: await findInstalled('mine') })
  const file = path.join(packFolder(models, 'mine'), 'net.onnx')
  await writeFile(file, 'another network')
  await assert.rejects(readVerifiedActiveSet(models), /net\.onnx was altered.*models use builtin/u)
  await rm(file)
  await assert.rejects(
    readVerifiedActiveSet(models),
    /cannot read the model .*net\.onnx.*use builtin/u,
  )
  await install('mine', null)
  await assert.rejects(readVerifiedActiveSet(models), /contains no sha256 for net\.onnx/u)
  await rm(packFolder(models, 'mine'), { recursive: true })
  await assert.rejects(
    readVerifiedActiveSet(models),
    /recognizer mine\/net is not installed.*install mine/u,
  )

  await install('mine')
  const selection = { schema: 1, detector: 'mine/net', recognizer: 'builtin', liveness: 'builtin' }
  const filePath = path.join(models, 'active.json')
  await writeFile(filePath, JSON.stringify({ ...selection, formerRecognizers: [] }))
  await assert.rejects(readVerifiedActiveSet(models), /the pack mine has no detector net/u)
  await writeFile(filePath, '{"schema":1,"detector":"../../etc/passwd"}')
  await assert.rejects(
    readVerifiedActiveSet(models),
    /active\.json is not a valid model selection/u,
  )
})

test('an invalid manifest is rejected with the path of the invalid field', async () => {
  const folder = packFolder(models, 'odd')
  await mkdir(folder, { recursive: true })
  await writeFile(
    path.join(folder, 'pack.json'),
    '{"schema":1,"name":"odd","description":"","models":[{"id":"../x"}]}',
  )
  await assert.rejects(
    listPacks(models),
    /pack\.json is not a valid pack manifest.*models\.0\.id: must be/u,
  )
  await writeFile(path.join(folder, 'pack.json'), '{')
  await assert.rejects(listPacks(models), /pack\.json is not JSON/u)
})
