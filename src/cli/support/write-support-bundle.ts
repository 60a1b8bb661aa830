import { readActiveSet } from '../../models/active-set.ts'
import { readRecognizerCalibration } from '../../start/active-models.ts'
import { createSupportBundle } from '../../start/system/support-bundle.ts'
import { auditedChange } from '../audit/audited-change.ts'
import { modelsFolder as folderOfModels, readSettings } from '../read-settings.ts'
import { type CommandValues, print } from '../command.ts'
import { writeNewFile } from '../command-line/write-new-file.ts'
import { version } from '../version.ts'
import { requireAccountId, withStore } from '../with-store.ts'

/** Writes a support bundle to a new file that only its owner can read. */
export async function writeSupportBundle({ to: file, json }: CommandValues<'to'>): Promise<void> {
  const config = readSettings()
  const modelsFolder = folderOfModels()
  // The bundle helps to find the cause of a problem, so a broken model must not prevent it.
  const unreadable = () => undefined
  const modelSet = await readActiveSet(modelsFolder).catch(unreadable)
  const calibration =
    modelSet && (await readRecognizerCalibration(modelSet.recognizer).catch(unreadable))
  const bytes = await withStore(async (store) => {
    const clock = store.timeOfDay ?? Date.now
    const models = { modelsFolder, modelSet, calibration }
    const bundle = await createSupportBundle(config, { version, store, clock, ...models })
    const text = `${JSON.stringify(bundle, null, 2)}\n`
    const accountId = await requireAccountId(store)
    return auditedChange(store, 'system.supportBundle', async () => {
      await writeNewFile(file, text)
      return { result: Buffer.byteLength(text), accountId, target: version }
    })
  })
  print({ file, bytes }, json, () => `${file}, ${(bytes / 1e3).toFixed(1)} kB`)
}
