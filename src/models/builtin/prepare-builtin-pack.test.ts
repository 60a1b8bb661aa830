import assert from 'node:assert/strict'
import { copyFile, mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { builtinPack } from './builtin-pack.ts'
import type { BuiltinModel } from './builtin-model.ts'
import { prepareBuiltinPack } from './prepare-builtin-pack.ts'
import type { PrepareProgress, PrepareOptions } from './prepare-builtin-pack.ts'
import { removeUnfinishedFiles, writeFileAtomic } from '../artifact-file.ts'
import { installedPackageFolder } from '../convert/read-source.ts'
import { sha256Of } from '../sha256.ts'

const scratch = await mkdtemp(path.join(os.tmpdir(), 'facegate-models-'))
after(() => rm(scratch, { recursive: true }))

/** The two smallest models represent all models in these tests. */
const { liveness, face_expression: expression } = builtinPack.models
const models: readonly BuiltinModel[] = [liveness, expression]

const newFolder = (): Promise<string> => mkdtemp(path.join(scratch, 'pack-'))
const fileOf = (folder: string, model: BuiltinModel): string =>
  path.join(folder, model.artifact.file)

type PrepareRecord = {
  readonly progress: PrepareProgress[]
  readonly warnings: string[]
  readonly debugMessages: string[]
}

/** Prepares `folder`. Returns the reported progress and the names of the logged files. */
async function prepare(
  folder: string,
  options: Partial<PrepareOptions> = {},
): Promise<PrepareRecord> {
  const record: PrepareRecord = { progress: [], warnings: [], debugMessages: [] }
  const log = {
    warn: ({ file }: { file: string }) => record.warnings.push(path.basename(file)),
    debug: ({ file }: { file: string }) => record.debugMessages.push(path.basename(file)),
  } as unknown as NonNullable<PrepareOptions['log']>
  const onProgress = (progress: PrepareProgress): number => record.progress.push(progress)
  await prepareBuiltinPack({ folder, models, log, onProgress, ...options })
  return record
}

async function assertComplete(folder: string, expected = models): Promise<void> {
  const artifacts = expected.flatMap(({ artifact, int8 }) => [
    artifact,
    ...(int8 ? [int8.artifact] : []),
  ])
  const files = artifacts.map(({ file }) => file)
  assert.deepEqual((await readdir(folder)).toSorted(), files.toSorted())
  for (const { file, sha256 } of artifacts)
    assert.equal(sha256Of(await readFile(path.join(folder, file))), sha256)
}

/** Copies the source of one model, for tests that damage it. */
async function copySource({ source }: BuiltinModel): Promise<string> {
  const copy = await mkdtemp(path.join(scratch, 'package-'))
  for (const { path: file } of [source.manifest, source.weights]) {
    await mkdir(path.dirname(path.join(copy, file)), { recursive: true })
    await copyFile(path.join(installedPackageFolder(source.package), file), path.join(copy, file))
  }
  return copy
}

test('the first start converts every model of the pack to the expected bytes', async () => {
  const folder = await newFolder()
  const allModels: readonly BuiltinModel[] = Object.values(builtinPack.models)
  const { progress } = await prepare(folder, { models: allModels })
  await assertComplete(folder, allModels)
  assert.deepEqual(
    progress,
    allModels.map(({ id }, index) => ({ done: index + 1, total: 10, id, outcome: 'converted' })),
  )
})

test('the next start verifies the files and writes nothing', async () => {
  const folder = await newFolder()
  const first = await prepare(folder)
  const written = await stat(fileOf(folder, liveness))
  const second = await prepare(folder)
  const { ino, mtimeMs } = await stat(fileOf(folder, liveness))
  assert.deepEqual(first.debugMessages, ['liveness.onnx', 'face_expression.onnx'])
  assert.deepEqual([ino, mtimeMs], [written.ino, written.mtimeMs])
  assert.deepEqual(new Set(second.progress.map(({ outcome }) => outcome)), new Set(['verified']))
  assert.deepEqual([...second.warnings, ...second.debugMessages], [])
})

test('a complete folder needs no source packages', async () => {
  const folder = await newFolder()
  await prepare(folder)
  await prepare(folder, { resolvePackageFolder: () => path.join(scratch, 'nowhere') })
})

test('a missing folder is created together with its parents', async () => {
  const folder = path.join(await newFolder(), 'data', 'models')
  await prepare(folder)
  await assertComplete(folder)
})

const damages: Readonly<Record<string, (folder: string) => Promise<void>>> = {
  'a truncated file': async (folder) => {
    const bytes = await readFile(fileOf(folder, liveness))
    await writeFile(fileOf(folder, liveness), bytes.subarray(0, -1))
  },
  'an empty file': (folder) => writeFile(fileOf(folder, liveness), ''),
  'one flipped bit': async (folder) => {
    const bytes = await readFile(fileOf(folder, liveness))
    bytes[300_000] = (bytes[300_000] ?? 0) ^ 1
    await writeFile(fileOf(folder, liveness), bytes)
  },
  'the file of another model under this name': (folder) =>
    copyFile(fileOf(folder, expression), fileOf(folder, liveness)),
}

for (const [damage, inflict] of Object.entries(damages))
  test(`${damage} is logged and converted again`, async () => {
    const folder = await newFolder()
    await prepare(folder)
    await inflict(folder)
    const { warnings, progress } = await prepare(folder)
    assert.deepEqual(warnings, ['liveness.onnx'])
    assert.deepEqual(
      progress.map(({ outcome }) => outcome),
      ['converted', 'verified'],
    )
    await assertComplete(folder)
  })

test('a missing file is logged and converted again', async () => {
  const folder = await newFolder()
  await prepare(folder)
  await rm(fileOf(folder, expression))
  const { debugMessages } = await prepare(folder)
  assert.deepEqual(debugMessages, ['face_expression.onnx'])
  await assertComplete(folder)
})

for (const kind of ['manifest', 'weights'] as const) {
  const name = path.basename(liveness.source[kind].path)

  test(`an altered source ${kind} file is rejected by name, and nothing is written`, async () => {
    const [folder, copy] = [await newFolder(), await copySource(liveness)]
    const file = path.join(copy, liveness.source[kind].path)
    const bytes = await readFile(file)
    bytes[10_000] = (bytes[10_000] ?? 0) ^ 1
    await writeFile(file, bytes)
    const preparation = prepare(folder, { resolvePackageFolder: () => copy })
    await assert.rejects(
      preparation,
      ({ message }: Error) => /altered/u.test(message) && message.includes(name),
    )
    assert.deepEqual(await readdir(folder), [])
  })

  test(`a missing source ${kind} file is rejected by name, and nothing is written`, async () => {
    const [folder, copy] = [await newFolder(), await copySource(liveness)]
    await rm(path.join(copy, liveness.source[kind].path))
    const preparation = prepare(folder, { resolvePackageFolder: () => copy })
    await assert.rejects(preparation, ({ message }: Error) => message.includes(name))
    assert.deepEqual(await readdir(folder), [])
  })
}

test('a conversion with an unexpected checksum is rejected', async () => {
  const folder = await newFolder()
  const artifact = { ...liveness.artifact, sha256: expression.artifact.sha256 }
  const preparation = prepare(folder, { models: [{ ...liveness, artifact }] })
  await assert.rejects(preparation, /conversion of liveness created an unexpected liveness\.onnx/u)
  assert.deepEqual(await readdir(folder), [])
})

test('the unfinished file of a killed start is removed', async () => {
  const folder = await newFolder()
  await writeFile(`${fileOf(folder, liveness)}.0b6f.unfinished`, 'half a model')
  await prepare(folder)
  await assertComplete(folder)
})

test('concurrent starts do not damage the files', async () => {
  const folder = await newFolder()
  await Promise.all(Array.from({ length: 8 }, () => prepare(folder)))
  await assertComplete(folder)
})

test('a file is written again when another start removes it as unfinished', async () => {
  const folder = await newFolder()
  const filePath = path.join(folder, 'large.onnx')
  const bytes = new Uint8Array(32 << 20).fill(7)
  const writing = writeFileAtomic(filePath, bytes)
  let removed: readonly string[] = []
  while (removed.length === 0) removed = await removeUnfinishedFiles(folder)
  await writing
  assert.deepEqual(await readdir(folder), ['large.onnx'])
  assert.equal(sha256Of(await readFile(filePath)), sha256Of(bytes))
})
