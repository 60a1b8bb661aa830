import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { readActiveSet } from '../../models/active-set.ts'
import { installedModelsOf } from '../../models/model-set.ts'
import { isPackName, packFolder, modelRefOf } from '../../models/installed-packs.ts'
import { print } from '../with-store.ts'
import { UsageError } from '../command.ts'
import { modelsFolder } from './models-folder.ts'

export async function remove(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { json: { type: 'boolean', default: false } },
  })
  const [name, ...rest] = positionals
  if (name === undefined || rest.length > 0) throw new UsageError('name one pack')
  const folder = modelsFolder()
  // Also one whose manifest cannot be read, as long as nothing needs it.
  const place = packFolder(folder, name)
  if (!isPackName(name) || !existsSync(place)) throw new Error(`the pack ${name} is not installed`)
  const set = await readActiveSet(folder)
  const used = installedModelsOf(set).filter((model) => model.folder === place)
  const former = used.filter((model) => set.formerRecognizers.includes(model))
  if (used.length > former.length)
    throw new Error(`${name} is in use; choose other models first, as facegate models use builtin`)
  if (former.length > 0)
    throw new Error(
      `old templates need ${former.map(modelRefOf).join(', ')}: nobody could be found by them any more`,
    )
  await rm(place, { recursive: true })
  print({ removed: name }, values.json, () => `removed ${name}`)
}
