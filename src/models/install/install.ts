import { copyFile, mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { installedOf, readChosenSet } from '../active.ts'
import { manifestFile, packFolder, packsFolder, readPack, sha256OfFile } from '../installed.ts'
import type { InstalledPack } from '../installed.ts'
import { filesOf, type InstalledModel, type PackManifest, type PackModel } from '../pack.ts'
import { convertPytorch } from '../pytorch/convert.ts'
import { download, type DownloadLimits } from './download.ts'
import { neededFiles, weightsName, type NeededFile } from './files.ts'
import type { Offer } from './offer.ts'
import type { Progress } from './transfer.ts'

export type InstallOptions = {
  /** A folder that is looked into for every file before it is fetched. */
  readonly filesFolder?: string | undefined
  readonly onProgress: (file: string, ...progress: Parameters<Progress>) => void
  /** Loads a model and runs it; what is wrong with it, if anything. */
  readonly probe: (model: InstalledModel) => Promise<string | undefined>
  readonly limits?: DownloadLimits | undefined
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

  const models: PackModel[] = []
  for (const model of manifest.models) models.push(await finish(staging, model, sha256s))
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

/** Puts a file into the staging folder, checked. @returns its sha256. */
async function fetchFile(
  staging: string,
  { name, sha256, source }: NeededFile,
  { filesFolder, onProgress, limits }: InstallOptions,
): Promise<string> {
  const place = path.join(staging, name)
  const given = path.join(filesFolder ?? '', name)
  if (filesFolder !== undefined && existsSync(given)) return copyChecked(given, place, sha256)
  if (!source) throw new Error(`nobody says where ${name} is: name a folder that has it, --from`)
  if ('place' in source) return copyChecked(source.place, place, sha256)
  // The last run may have fetched this file and been cut off at the next one.
  if (sha256 !== null && existsSync(place) && (await sha256OfFile(place)) === sha256) return sha256
  const progress: Progress = (done, total) => onProgress(name, done, total)
  return download({ url: source.url, place, sha256, onProgress: progress }, limits)
}

async function copyChecked(from: string, to: string, sha256: string | null): Promise<string> {
  await copyFile(from, to).catch((cause: unknown) => {
    throw new Error(`cannot read ${from}`, { cause })
  })
  const found = await sha256OfFile(to)
  if (sha256 === null || found === sha256) return found
  await rm(to)
  throw new Error(`${from} is not the file of the manifest (sha256 ${found}, expected ${sha256})`)
}

/** Makes the ONNX file of a model of what was fetched. @returns the model with its checksum. */
async function finish(
  staging: string,
  model: PackModel,
  sha256s: ReadonlyMap<string, string>,
): Promise<PackModel> {
  const fetched = path.join(staging, weightsName(model))
  const place = path.join(staging, model.file)
  const format = model.source?.format ?? { kind: 'onnx' }
  if (format.kind === 'pytorch') {
    const onnx = convertPytorch(format.architecture, await readFile(fetched), fetched)
    await writeFile(place, onnx)
  } else if (fetched !== place) await copyFile(fetched, place)
  const sha256 = await sha256OfFile(place)
  if (model.sha256 !== null && sha256 !== model.sha256)
    throw new Error(
      `${model.file} is not what the manifest says (sha256 ${sha256}, expected ${model.sha256})`,
    )
  const { source } = model
  const fetchedSha256 = sha256s.get(weightsName(model)) ?? null
  return { ...model, sha256, ...(source && { source: { ...source, sha256: fetchedSha256 } }) }
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
    if (used.folder === folder && same?.sha256 !== used.model.sha256)
      throw new Error(
        `${pack.name} is in use and this would change its ${used.model.id}; ` +
          'facegate models use builtin first, or give the pack another name',
      )
  }
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
