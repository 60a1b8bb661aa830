import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { builtinPack } from '../../src/models/builtin/builtin-pack.ts'
import { prepareBuiltinPack } from '../../src/models/builtin/prepare-builtin-pack.ts'
import { builtinSet, type ModelSet } from '../../src/models/model-set.ts'
import { optimizedPaths } from '../../src/vision/optimized/copy-report.ts'
import { prepareOptimizedNetworks } from '../../src/vision/optimized/optimized-networks.ts'
import { runSelfTest } from '../../src/vision/self-test/run-self-test.ts'
import { testModelsFolder } from '../support/paths.ts'

/** Optimized networks with a separate record, in which one network can be replaced. */
let folder: string
let optimizedFolder: string
/** The first network: a self-test that runs fails early. */
const [network] = Object.values(builtinPack.models).map(({ artifact }) => artifact.sha256)

before(async () => {
  await prepareBuiltinPack({ folder: testModelsFolder })
  const options = { modelsFolder: testModelsFolder, modelSet: builtinSet }
  const source = await prepareOptimizedNetworks(options)
  assert.ok(source !== undefined)
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-self-test-'))
  optimizedFolder = path.join(folder, path.basename(source))
  await mkdir(optimizedFolder)
  for (const file of await readdir(source))
    if (/\.ort(?:\.json)?$/u.test(file))
      await symlink(path.join(source, file), path.join(optimizedFolder, file))
})
after(async () => rm(folder, { recursive: true }))

function start(modelSet: ModelSet = builtinSet, copies = optimizedFolder): Promise<void> {
  return runSelfTest({ modelsFolder: testModelsFolder, optimizedFolder: copies, modelSet })
}

function pathsOfNetwork() {
  assert.ok(network !== undefined)
  return optimizedPaths(optimizedFolder, network)
}

/** Replaces a copy by a file that no runtime can load: the self-test fails if it runs. */
async function damageNetwork(): Promise<void> {
  const { filePath } = pathsOfNetwork()
  await rm(filePath)
  await writeFile(filePath, 'damaged')
}

test('A start skips the self-test if it passed before', async () => {
  await start()
  await damageNetwork()
  await start()
})

test('Other models, another copy, another processor or no record: the self-test runs', async () => {
  const failure = { message: /self-test-process/u }
  await assert.rejects(start({ ...builtinSet, formerRecognizers: ['builtin'] }), failure)
  const record = path.join(optimizedFolder, 'self-test.sha256')
  const passed = await readFile(record)
  const { reportPath } = pathsOfNetwork()
  const report = await readFile(reportPath, 'utf8')
  await rm(reportPath)
  await writeFile(reportPath, JSON.stringify({ ...JSON.parse(report), sha256: 'of another copy' }))
  await assert.rejects(start(), failure)
  await writeFile(reportPath, report)
  await start()
  await rm(record)
  await assert.rejects(start(), failure)
  assert.ok(
    !(await readdir(optimizedFolder)).includes('self-test.sha256'),
    'a failure stores nothing',
  )
  await writeFile(record, passed)
  await start()
  const other = path.join(folder, 'other-processor')
  await rename(optimizedFolder, other)
  await assert.rejects(start(builtinSet, other), failure)
})
