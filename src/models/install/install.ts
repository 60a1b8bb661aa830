import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { installedOf, readChosenSet } from '../active.ts'
import {
  findPack,
  manifestFile,
  packFolder,
  packsFolder,
  readPack,
  sha256OfFile,
} from '../installed.ts'
import type { InstalledPack } from '../installed.ts'
import { filesOf, type InstalledModel, type PackManifest, type PackModel } from '../pack.ts'
import { convertPytorch } from '../pytorch/convert.ts'
import { carryCalibration } from './carry.ts'
import { fetchFile, type FetchOptions } from './fetch-file.ts'
import { neededFiles, weightsOf, type NeededFile } from './files.ts'
import type { Offer } from './offer.ts'

export type InstallOptions = FetchOptions & {
  /** Loads a model and runs it; what is wrong with it, if anything. */
  readonly probe: (model: InstalledModel) => Promise<string | undefined>
}

export type Installation = {
  readonly pack: InstalledPack
  /** The files whose checksum the manifest did not know: it is now the one of what came. */
  readonly pinned: readonly string[]
}

/**
 * Fetches, checks and tries every file of a pack, and only then puts the pack in its place, in one
 * step. What an installation that was cut off leaves is a hidden folder, which the next one of the
 * same pack goes on with.
 *
 * @throws Error that says what is wrong; then nothing has changed but parts to go on with.
 */
export async function installPack(
  modelsFolder: string,
  offer: Offer,
  options: InstallOptions,
): Promise<Installation> {
  const { manifest } = offer
  const staging = path.join(packsFolder(modelsFolder), `.unfinished-${manifest.name}`)
  await mkdir(staging, { recursive: true })
  const needed = neededFiles(offer)
  await removeOthers(staging, needed)
  const sha256s = new Map<string, string>()
  for (const file of needed) sha256s.set(file.name, await fetchFile(staging, file, options))

  const before = await findPack(modelsFolder, manifest.name).catch(() => undefined)
  const models: PackModel[] = []
  for (const model of manifest.models) {
    const weights = weightsOf(offer, model)
    const finished = await finish(staging, model, {
      ...weights,
      sha256: sha256s.get(weights.name) ?? null,
    })
    models.push(await carryCalibration(staging, finished, before))
  }
  for (const model of models) await mustRun({ folder: staging, model }, options.probe)

  const finished: PackManifest = { ...manifest, models }
  await refuseChangeOfActive(modelsFolder, finished)
  await writeFile(path.join(staging, manifestFile), `${JSON.stringify(finished, null, 2)}\n`)
  await removeOthers(
    staging,
    [...models.flatMap(filesOf), manifestFile].map((name) => ({ name })),
  )
  const folder = packFolder(modelsFolder, manifest.name)
  await replaceFolder(staging, folder)
  const pinned = manifest.models.filter((model) => (model.source ?? model).sha256 === null)
  return { pack: await readPack(folder), pinned: pinned.map(({ file }) => file) }
}

/** Makes the ONNX file of a model of what was fetched. @returns the model with its checksums. */
async function finish(
  staging: string,
  model: PackModel,
  fetched: Pick<NeededFile, 'name' | 'called' | 'sha256'>,
): Promise<PackModel> {
  const place = path.join(staging, model.file)
  const { source } = model
  if (source?.format.kind === 'pytorch') {
    const weights = await readFile(path.join(staging, fetched.name))
    await writeFile(place, convertPytorch(source.format.architecture, weights, fetched.called))
  }
  const sha256 = await sha256OfFile(place)
  if (model.sha256 !== null && sha256 !== model.sha256)
    throw new Error(
      `${model.file} is not what the manifest says (sha256 ${sha256}, expected ${model.sha256})`,
    )
  return { ...model, sha256, ...(source && { source: { ...source, sha256: fetched.sha256 } }) }
}

async function mustRun(model: InstalledModel, probe: InstallOptions['probe']): Promise<void> {
  const fault = await probe(model)
  if (fault !== undefined) throw new Error(`${model.model.id} does not work: ${fault}`)
}

/**
 * A running server loads its models again whenever it replaces a worker: under the name of a pack
 * that it uses only the same bytes may lie.
 */
async function refuseChangeOfActive(modelsFolder: string, pack: PackManifest): Promise<void> {
  // A choice that cannot be read keeps the service from starting; mending it may take this pack.
  const set = await readChosenSet(modelsFolder).catch(() => undefined)
  const folder = packFolder(modelsFolder, pack.name)
  for (const used of set ? installedOf(set) : []) {
    const same = pack.models.find(({ id }) => id === used.model.id)
    if (used.folder === folder && !(same && isSameNetwork(same, used.model)))
      throw new Error(
        `${pack.name} is in use and this would change its ${used.model.id}; ` +
          'facegate models use builtin first, or give the pack another name',
      )
  }
}

/** Another cohort makes other templates, as other weights do. */
function isSameNetwork(a: PackModel, b: PackModel): boolean {
  const cohortOf = ({ decoding }: PackModel): string | undefined =>
    decoding.kind === 'arcface' ? decoding.cohort?.sha256 : undefined
  return a.version === b.version && a.sha256 === b.sha256 && cohortOf(a) === cohortOf(b)
}

/** Between the two renames a crash would leave neither: the next installation mends that. */
async function replaceFolder(from: string, to: string): Promise<void> {
  const old = path.join(path.dirname(to), `.old-${path.basename(to)}`)
  await rm(old, { recursive: true, force: true })
  if (existsSync(to)) await rename(to, old)
  await rename(from, to)
  await rm(old, { recursive: true, force: true })
}

/** Keeps the named files and their parts alone. */
async function removeOthers(
  folder: string,
  keep: readonly { readonly name: string }[],
): Promise<void> {
  const names = new Set(keep.flatMap(({ name }) => [name, `${name}.part`, `${name}.part.json`]))
  for (const name of await readdir(folder))
    if (!names.has(name)) await rm(path.join(folder, name), { recursive: true })
}
