import { parseArgs } from 'node:util'
import { readActiveSet } from '../../models/active-set.ts'
import { listModels, type ListedModel } from '../../models/list-models.ts'
import { formatTable, print } from '../with-store.ts'
import { modelsFolder } from './models-folder.ts'

export async function list(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { json: { type: 'boolean', default: false } },
  })
  const folder = modelsFolder()
  const models = await listModels(folder, await readActiveSet(folder))
  print(models, values.json, () => table(models))
}

function table(models: readonly ListedModel[]): string {
  const head = ['model', 'role', 'state', 'use', 'business use', 'MB', 'licence']
  return formatTable(
    head,
    models.map((row) => [
      row.model,
      row.roles.join('+'),
      row.state,
      row.use ?? '',
      row.commercialUse,
      row.bytes === null ? '?' : (row.bytes / 1e6).toFixed(1),
      row.licence.length > 44 ? `${row.licence.slice(0, 43)}…` : row.licence,
    ]),
  )
}
