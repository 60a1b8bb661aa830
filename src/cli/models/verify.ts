import { parseArgs } from 'node:util'
import { checkModelFiles, listPacks, modelRefOf } from '../../models/installed-packs.ts'
import type { InstalledModel } from '../../models/model-set.ts'
import { runSmokeTest } from '../../vision/self-test/run-smoke-test.ts'
import { formatTable, print } from '../with-store.ts'
import { modelsFolder } from './models-folder.ts'

export async function verify(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { json: { type: 'boolean', default: false } },
  })
  const packs = await listPacks(modelsFolder())
  for (const name of positionals)
    if (!packs.some(({ manifest }) => manifest.name === name))
      throw new Error(`the pack ${name} is not installed`)
  const results: { readonly model: string; readonly fault: string | null }[] = []
  for (const { folder, manifest } of packs) {
    if (positionals.length > 0 && !positionals.includes(manifest.name)) continue
    for (const model of manifest.models) {
      const installed = { folder, model }
      results.push({ model: modelRefOf(installed), fault: (await findFault(installed)) ?? null })
    }
  }
  print(results, values.json, () => table(results))
  const faulty = results.filter(({ fault }) => fault !== null)
  if (faulty.length > 0)
    throw new Error(`${faulty.length} of ${results.length} models must be installed again`)
}

/** The checksums first: a file that is not the one that was installed is not loaded. */
async function findFault(model: InstalledModel): Promise<string | undefined> {
  try {
    await checkModelFiles(model)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
  return runSmokeTest(model)
}

function table(results: readonly { readonly model: string; readonly fault: string | null }[]) {
  if (results.length === 0)
    return 'nothing is installed; every start of the service verifies the built-in models'
  return formatTable(
    ['model', 'checksum, loads, answers as its manifest says'],
    results.map(({ model, fault }) => [model, fault ?? 'yes']),
  )
}
