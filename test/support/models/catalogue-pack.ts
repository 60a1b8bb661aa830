import assert from 'node:assert/strict'
import { existsSync, globSync } from 'node:fs'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { catalogue, catalogueFolder } from '../../../src/models/catalogue/catalogue.ts'
import { evalDataFolder } from '../paths.ts'

const evalModels = path.join(evalDataFolder, 'models')
export const skipWithoutModels = { skip: !existsSync(evalModels) && 'eval-data is missing' }

/** Writes a pack of the catalogue with the models whose files are in eval-data. */
export async function writeCataloguePack(folder: string, name: string): Promise<string> {
  const { models, ...pack } = catalogue.find((entry) => entry.name === name) ?? assert.fail(name)
  const packPath = path.join(folder, pack.name)
  await mkdir(packPath, { recursive: true })
  const available = models.filter(({ file }) => existsSync(path.join(evalModels, file)))
  for (const { file } of available)
    await copyFile(path.join(evalModels, file), path.join(packPath, file))
  for (const file of globSync(['*.f16', '*.calibration.json'], { cwd: catalogueFolder }))
    await copyFile(path.join(catalogueFolder, file), path.join(packPath, file))
  await writeFile(path.join(packPath, 'pack.json'), JSON.stringify({ ...pack, models: available }))
  return packPath
}
