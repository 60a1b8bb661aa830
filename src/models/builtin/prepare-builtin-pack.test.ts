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
import { installedPackageFolder, sha256Of } from '../convert/read-source.ts'

const scratch = await mkdtemp(path.join(os.tmpdir(), 'facegate-models-'))
after(() => rm(scratch, { recursive: true }))

/** The two smallest models: what holds for them holds for all. */
const { liveness, face_expression: expression } = builtinPack.models
const models: readonly BuiltinModel[] = [liveness, expression]

const newFolder = (): Promise<string> => mkdtemp(path.join(scratch, 'pack-'))
const fileOf = (folder: string, entry: BuiltinModel): string =>
  path.join(folder, entry.artifact.file)

type PrepareRecord = {
  readonly progress: PrepareProgress[]
  readonly warnings: string[]
  readonly debugMessages: string[]
}

/** Prepares `folder` and gives back what was told meanwhile: progress, and the files that were named. */
async function prepare(
  folder: string,
  options: Partial<PrepareOptions> = {},
): Promise<PrepareRecord> {
  const told: PrepareRecord = { progress: [], warnings: [], debugMessages: [] }
  const log = {
    warn: ({ file }: { file: string }) => told.warnings.push(path.basename(file)),
    debug: ({ file }: { file: string }) => told.debugMessages.push(path.basename(file)),
  } as unknown as NonNullable<PrepareOptions['log']>
  const onProgress = (progress: PrepareProgress): number => told.progress.push(progress)
  await prepareBuiltinPack({ folder, models, log, onProgress, ...options })
  return told
}

async function assertWhole(folder: string, entries = models): Promise<void> {
  const files = entries.map(({ artifact: product }) => product.file)
  assert.deepEqual((await readdir(folder)).toSorted(), files.toSorted())
  for (const entry of entries)
    assert.equal(sha256Of(await readFile(fileOf(folder, entry))), entry.artifact.sha256)
}

/** A copy of one model's source, for a test to spoil. */
async function copySource({ source }: BuiltinModel): Promise<string> {
  const copy = await mkdtemp(path.join(scratch, 'package-'))
  for (const { path: file } of [source.manifest, source.weights]) {
    await mkdir(path.dirname(path.join(copy, file)), { recursive: true })
    await copyFile(path.join(installedPackageFolder(source.package), file), path.join(copy, file))
  }
  return copy
}

test('the first start makes every model of the pack, the same bytes as everywhere', async () => {
  const folder = await newFolder()
  const entries: readonly BuiltinModel[] = Object.values(builtinPack.models)
  const { progress } = await prepare(folder, { models: entries })
  await assertWhole(folder, entries)
  assert.deepEqual(
    progress,
    entries.map(({ id }, index) => ({ done: index + 1, total: 10, id, outcome: 'converted' })),
  )
})

test('the next start verifies and writes nothing', async () => {
  const folder = await newFolder()
  const first = await prepare(folder)
  const written = await stat(fileOf(folder, liveness))
  const second = await prepare(folder)
  const { ino, mtimeMs } = await stat(fileOf(folder, liveness))
  assert.deepEqual(first.debugMessages, ['liveness.onnx', 'face_expression.onnx'])
  assert.deepEqual([ino, mtimeMs], [written.ino, written.mtimeMs])
  assert.deepEqual(new Set(second.progress.map(({ outcome: what }) => what)), new Set(['verified']))
  assert.deepEqual([...second.warnings, ...second.debugMessages], [])
})

test('a whole folder needs no sources', async () => {
  const folder = await newFolder()
  await prepare(folder)
  await prepare(folder, { resolvePackageFolder: () => path.join(scratch, 'nowhere') })
})

test('a folder in a folder that is not there is made', async () => {
  const folder = path.join(await newFolder(), 'data', 'models')
  await prepare(folder)
  await assertWhole(folder)
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
  'another model under the name': (folder) =>
    copyFile(fileOf(folder, expression), fileOf(folder, liveness)),
}

for (const [damage, inflict] of Object.entries(damages))
  test(`${damage} is named and made again`, async () => {
    const folder = await newFolder()
    await prepare(folder)
    await inflict(folder)
    const { warnings: warned, progress } = await prepare(folder)
    assert.deepEqual(warned, ['liveness.onnx'])
    assert.deepEqual(
      progress.map(({ outcome: what }) => what),
      ['converted', 'verified'],
    )
    await assertWhole(folder)
  })

test('a missing file is named and made again', async () => {
  const folder = await newFolder()
  await prepare(folder)
  await rm(fileOf(folder, expression))
  const { debugMessages: informed } = await prepare(folder)
  assert.deepEqual(informed, ['face_expression.onnx'])
  await assertWhole(folder)
})

for (const kind of ['manifest', 'weights'] as const) {
  const name = path.basename(liveness.source[kind].path)

  test(`an altered source of ${kind} is refused by name, and nothing is written`, async () => {
    const [folder, copy] = [await newFolder(), await copySource(liveness)]
    const file = path.join(copy, liveness.source[kind].path)
    const bytes = await readFile(file)
    bytes[10_000] = (bytes[10_000] ?? 0) ^ 1
    await writeFile(file, bytes)
    const start = prepare(folder, { resolvePackageFolder: () => copy })
    await assert.rejects(
      start,
      ({ message }: Error) => /altered/u.test(message) && message.includes(name),
    )
    assert.deepEqual(await readdir(folder), [])
  })

  test(`a missing source of ${kind} is refused by name, and nothing is written`, async () => {
    const [folder, copy] = [await newFolder(), await copySource(liveness)]
    await rm(path.join(copy, liveness.source[kind].path))
    const start = prepare(folder, { resolvePackageFolder: () => copy })
    await assert.rejects(start, ({ message }: Error) => message.includes(name))
    assert.deepEqual(await readdir(folder), [])
  })
}

test('a conversion that gives other bytes than the manifest names is refused', async () => {
  const folder = await newFolder()
  const product = { ...liveness.artifact, sha256: expression.artifact.sha256 }
  const start = prepare(folder, { models: [{ ...liveness, artifact: product }] })
  await assert.rejects(start, /conversion of liveness gave another liveness\.onnx/u)
  assert.deepEqual(await readdir(folder), [])
})

test('the unfinished file of a killed start is removed', async () => {
  const folder = await newFolder()
  await writeFile(`${fileOf(folder, liveness)}.0b6f.unfinished`, 'half a mo')
  await prepare(folder)
  await assertWhole(folder)
})

test('starts at once do not spoil each other', async () => {
  const folder = await newFolder()
  await Promise.all(Array.from({ length: 8 }, () => prepare(folder)))
  await assertWhole(folder)
})

test('a file that another start took for a leftover is written again', async () => {
  const folder = await newFolder()
  const place = path.join(folder, 'large.onnx')
  const bytes = new Uint8Array(32 << 20).fill(7)
  const writing = writeFileAtomic(place, bytes)
  let removed: readonly string[] = []
  while (removed.length === 0) removed = await removeUnfinishedFiles(folder)
  await writing
  assert.deepEqual(await readdir(folder), ['large.onnx'])
  assert.equal(sha256Of(await readFile(place)), sha256Of(bytes))
})
