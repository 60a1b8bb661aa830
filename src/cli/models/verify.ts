import { checkModelFiles, listPacks, modelRefOf } from '../../models/installed-packs.ts'
import type { InstalledModel } from '../../models/model-set.ts'
import { runSmokeTest } from '../../vision/self-test/self-test.ts'
import { type CommandValues, formatRows, print } from '../command.ts'
import { modelsFolder } from '../read-settings.ts'

type ModelFault = { readonly model: string; readonly fault: string | null }

/** Verifies all installed packs, or the named ones. */
export async function verify(values: CommandValues & { readonly packs: readonly string[] }) {
  const results = await findModelFaults(values.packs)
  print(results, values.json, () =>
    results.length === 0
      ? 'nothing is installed; every start of the service verifies the built-in models'
      : formatRows(results, {
          model: 'model',
          'checksum correct, model loads, output as in the manifest': ({ fault }) => fault ?? 'yes',
        }),
  )
  const faulty = results.filter(({ fault }) => fault !== null)
  if (faulty.length > 0)
    throw new Error(`${faulty.length} of ${results.length} models must be installed again`)
}

/** Checks the models of the named packs; without names, of all. @throws Error if one is missing. */
export async function findModelFaults(names: readonly string[]): Promise<readonly ModelFault[]> {
  const packs = await listPacks(modelsFolder())
  for (const name of names)
    if (!packs.some(({ manifest }) => manifest.name === name))
      throw new Error(`the pack ${name} is not installed`)
  const results: ModelFault[] = []
  for (const { folder, manifest } of packs) {
    if (names.length > 0 && !names.includes(manifest.name)) continue
    for (const model of manifest.models) {
      const installed = { folder, model }
      results.push({ model: modelRefOf(installed), fault: (await findFault(installed)) ?? null })
    }
  }
  return results
}

/** Checks the checksums before it loads the model: an altered file is not loaded. */
async function findFault(model: InstalledModel): Promise<string | undefined> {
  try {
    await checkModelFiles(model)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return runSmokeTest(model)
}
