import { existsSync } from 'node:fs'
import path from 'node:path'
import { readVerifiedActiveSet } from '../../models/active-set.ts'
import { manifestFileName, packFolder, readPack } from '../../models/installed-packs.ts'
import { type PackModel } from '../../models/pack-manifest.ts'
import { builtinSet, type InstalledModel, type ModelSet } from '../../models/model-set.ts'
import { UsageError } from '../command.ts'

/**
 * What `--models` chooses: the built-in set, with the models of each named pack in their roles. A
 * pack is named by its folder, or as it is installed; a slash and an id choose one of its models.
 * Without a name, what the service uses.
 *
 * @throws UsageError when there is no such pack or model, or two of one role.
 */
export async function selectModelSet(
  names: readonly string[],
  modelsFolder: string,
): Promise<ModelSet> {
  if (names.length === 0) return readVerifiedActiveSet(modelsFolder)
  const packs = names.filter((name) => name !== 'builtin')
  const models = (await Promise.all(packs.map((name) => findModels(name, modelsFolder)))).flat()
  const allOf = (role: PackModel['role']) => models.filter(({ model }) => model.role === role)
  const oneOf = (role: PackModel['role']): 'builtin' | InstalledModel => {
    const [first, second] = allOf(role)
    if (second) throw new UsageError(`--models has several of the role ${role}: name one model`)
    return first ?? 'builtin'
  }
  const [first, ...others] = allOf('liveness')
  return {
    ...builtinSet,
    detector: oneOf('detector'),
    recognizer: oneOf('recognizer'),
    liveness: first ? [first, ...others] : 'builtin',
  }
}

async function findModels(name: string, modelsFolder: string): Promise<InstalledModel[]> {
  const whole = findPackFolder(name, modelsFolder)
  const folder = whole ?? findPackFolder(path.dirname(name), modelsFolder)
  if (folder === undefined)
    throw new UsageError(`--models ${name}: no folder with a ${manifestFileName}`)
  const { manifest } = await readPack(folder)
  const found = manifest.models.filter(
    ({ id }) => whole !== undefined || id === path.basename(name),
  )
  if (found.length === 0)
    throw new UsageError(
      `--models ${name}: the pack has ${manifest.models.map(({ id }) => id).join(', ')}`,
    )
  return found.map((model) => ({ folder, model }))
}

function findPackFolder(name: string, modelsFolder: string): string | undefined {
  const places = [path.resolve(name), packFolder(modelsFolder, name)]
  return places.find((place) => existsSync(path.join(place, manifestFileName)))
}
