import { existsSync } from 'node:fs'
import path from 'node:path'
import { readVerifiedActiveSet } from '../../models/active-set.ts'
import { manifestFileName, packFolder, readPack } from '../../models/installed-packs.ts'
import { type PackModel } from '../../models/pack-manifest.ts'
import {
  builtinSet,
  parseModelRef,
  type InstalledModel,
  type ModelSet,
} from '../../models/model-set.ts'
import { UsageError } from '../command.ts'

/**
 * Returns the model set that `--models` selects: the built-in models, replaced by the models of each
 * pack in their roles. A pack is given by its folder or its installed name; `pack/model` selects one
 * of its models, and `builtin+` before the name uses its recognizer together with the built-in one.
 * Without names, the active set of the service.
 *
 * @throws UsageError when a pack or model does not exist, or two models have the same role.
 */
export async function selectModelSet(
  names: readonly string[],
  modelsFolder: string,
): Promise<ModelSet> {
  if (names.length === 0) return readVerifiedActiveSet(modelsFolder)
  const packs = names.filter((name) => name !== 'builtin')
  const models = (await Promise.all(packs.map((name) => findModels(name, modelsFolder)))).flat()
  const findAll = (role: PackModel['role']) => models.filter(({ model }) => model.role === role)
  const findOne = (role: PackModel['role']): 'builtin' | InstalledModel => {
    const [first, second] = findAll(role)
    if (second)
      throw new UsageError(
        `--models selects several models of the role ${role}; pass pack/model for one of them`,
      )
    return first ?? 'builtin'
  }
  const [first, ...others] = findAll('liveness')
  return {
    ...builtinSet,
    detector: findOne('detector'),
    recognizer: findOne('recognizer'),
    liveness: first ? [first, ...others] : 'builtin',
  }
}

async function findModels(ref: string, modelsFolder: string): Promise<InstalledModel[]> {
  const { name, toModel } = parseModelRef(ref)
  const wholePack = findPackFolder(name, modelsFolder)
  const folder = wholePack ?? findPackFolder(path.dirname(name), modelsFolder)
  if (folder === undefined)
    throw new UsageError(`--models ${name}: there is no folder with a ${manifestFileName}`)
  const { manifest } = await readPack(folder)
  const found = manifest.models.filter(
    ({ id }) => wholePack !== undefined || id === path.basename(name),
  )
  if (found.length === 0)
    throw new UsageError(
      `--models ${name}: there is no such model; the pack has ${manifest.models.map(({ id }) => id).join(', ')}`,
    )
  return found.map((model) => toModel({ folder, model }))
}

function findPackFolder(name: string, modelsFolder: string): string | undefined {
  const folders = [path.resolve(name), packFolder(modelsFolder, name)]
  return folders.find((folder) => existsSync(path.join(folder, manifestFileName)))
}
