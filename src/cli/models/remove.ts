import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { readActiveSet } from '../../models/active-set.ts'
import { installedModelsOf, recognizerModelId } from '../../models/model-set.ts'
import { isPackName, packFolder, modelRefOf } from '../../models/installed-packs.ts'
import { auditedFileChange } from '../audit/audited-change.ts'
import { type CommandValues, print } from '../command.ts'
import { modelsFolder } from '../read-settings.ts'

/** Removes an installed pack that is not in use, even if its manifest is invalid. */
export async function remove({ pack: name, json }: CommandValues<'pack'>): Promise<void> {
  const folder = modelsFolder()
  const target = packFolder(folder, name)
  if (!isPackName(name) || !existsSync(target)) throw new Error(`the pack ${name} is not installed`)
  const set = await readActiveSet(folder)
  const used = installedModelsOf(set).filter((model) => model.folder === target)
  const former = used.filter((model) => set.formerRecognizers.includes(model))
  if (used.length > former.length)
    throw new Error(
      `${name} is in use; select other models first, such as facegate models use builtin`,
    )
  const [kept] = former
  if (kept)
    throw new Error(
      `${modelRefOf(kept)} is kept to match subjects with templates of it; end its use first: ` +
        `facegate models retire ${recognizerModelId(kept)} --confirm ${recognizerModelId(kept)}`,
    )
  await auditedFileChange({ auditAction: 'models.remove', target: name }, () =>
    rm(target, { recursive: true }),
  )
  print({ removed: name }, json, () => `removed ${name}`)
}
