import assert from 'node:assert/strict'
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { builtinPack } from '../../src/models/builtin/builtin-pack.ts'
import type { BuiltinModel } from '../../src/models/builtin/builtin-model.ts'
import { goldenInput } from '../../src/models/builtin/golden.ts'
import { prepareBuiltinPack } from '../../src/models/builtin/prepare-builtin-pack.ts'
import { builtinSet } from '../../src/models/model-set.ts'
import { optimizedPaths } from '../../src/vision/optimized/copy-report.ts'
import { prepareOptimizedNetworks } from '../../src/vision/optimized/optimized-networks.ts'
import { openBuiltinModel } from '../../src/vision/session.ts'
import { testModelsFolder } from '../support/paths.ts'

const modelSet = builtinSet
const models = Object.values<BuiltinModel>(builtinPack.models)

let modelsFolder = ''
let optimizedFolder = ''

before(async () => {
  await prepareBuiltinPack({ folder: testModelsFolder })
  modelsFolder = await mkdtemp(path.join(tmpdir(), 'facegate-optimized-'))
  for (const { artifact } of models)
    await symlink(
      path.join(testModelsFolder, artifact.file),
      path.join(modelsFolder, artifact.file),
    )
  optimizedFolder = (await prepareOptimizedNetworks({ modelsFolder, modelSet })) ?? ''
})
after(() => rm(modelsFolder, { recursive: true }))

test('The optimized copy of each built-in network returns exactly the values of the network', async () => {
  for (const model of models) {
    const values = await Promise.all(
      [undefined, optimizedFolder].map(async (folder) => {
        const session = await openBuiltinModel(modelsFolder, model, folder)
        try {
          return await session.run(goldenInput(model))
        } finally {
          await session.close()
        }
      }),
    )
    assert.deepEqual(values[1], values[0], model.id)
  }
})

test(
  'An optimized copy is mapped into memory, which processes share',
  { skip: process.platform !== 'linux' && 'only Linux lists the mapped files' },
  async () => {
    const model = builtinPack.models.faceres
    const { filePath } = optimizedPaths(optimizedFolder, model.artifact.sha256)
    const session = await openBuiltinModel(modelsFolder, model, optimizedFolder)
    assert.ok((await readFile('/proc/self/maps', 'utf8')).includes(filePath))
    await session.close()
  },
)

test('A damaged or missing copy is written again at the next start, and no other', async () => {
  const [first, second, third] = models.map(
    ({ artifact }) => optimizedPaths(optimizedFolder, artifact.sha256).filePath,
  )
  assert.ok(first && second && third)
  const bytes = await readFile(first)
  const damaged = Buffer.from(bytes)
  damaged[damaged.length - 5]! ^= 1
  await writeFile(first, damaged)
  await rm(second)
  const warnings: object[] = []
  const infos: object[] = []
  const log = {
    warn: (fields: object) => warnings.push(fields),
    info: (fields: object) => infos.push(fields),
  }
  assert.equal(await prepareOptimizedNetworks({ modelsFolder, modelSet, log }), optimizedFolder)
  assert.deepEqual(warnings, [{ file: first }])
  assert.deepEqual(infos, [{ folder: optimizedFolder, networks: 2 }])
  assert.equal((await readdir(optimizedFolder)).length, 2 * models.length)
  await prepareOptimizedNetworks({ modelsFolder, modelSet, log })
  assert.equal(infos.length, 1)
})

test('The copies are in the data folder if the folder of models cannot be written', async () => {
  const readOnly = await mkdtemp(path.join(tmpdir(), 'facegate-read-only-'))
  // Not even root can create a folder in /sys; the permissions of other folders do not apply to root.
  await symlink('/sys/kernel', path.join(readOnly, 'optimized'))
  for (const { artifact } of models)
    await cp(path.join(testModelsFolder, artifact.file), path.join(readOnly, artifact.file))
  const fallbackFolder = path.join(readOnly, 'data')
  const [warnings, infos]: [object[], object[]] = [[], []]
  const log = {
    warn: (fields: object) => warnings.push(fields),
    info: (fields: object) => infos.push(fields),
  }
  const options = { modelsFolder: readOnly, modelSet, fallbackFolder, log }
  const folder = await prepareOptimizedNetworks(options)
  assert.ok(folder !== undefined && folder.startsWith(fallbackFolder), folder)
  assert.equal((await readdir(folder)).length, 2 * models.length)
  assert.equal(await prepareOptimizedNetworks(options), folder)
  assert.deepEqual([warnings, infos], [[], [{ folder, networks: models.length }]])
  const neither = { ...options, fallbackFolder: '/sys/kernel' }
  assert.equal(await prepareOptimizedNetworks(neither), undefined)
  const [{ reasons }] = warnings as [{ reasons: readonly string[] }]
  assert.equal(warnings.length, 1)
  assert.equal(reasons.length, 2)
  for (const reason of reasons) assert.match(reason, /^E[A-Z]+: [^\n]+$/u)
  await rm(readOnly, { recursive: true })
})
