import { readActiveSet } from '../../models/active-set.ts'
import { listModels, type ListedModel } from '../../models/list-models.ts'
import { formatTable, print } from '../output.ts'
import { modelsFolder } from '../read-settings.ts'

type ListValues = { readonly commercial: boolean; readonly json: boolean }

export async function list({ commercial, json }: ListValues): Promise<void> {
  const folder = modelsFolder()
  const listed = await listModels(folder, await readActiveSet(folder))
  const models = commercial
    ? listed.filter(({ commercialUse }) => commercialUse === 'allowed')
    : listed
  print(models, json, () => table(models))
}

function table(models: readonly ListedModel[]): string {
  return formatTable(
    ['model', 'role', 'state', 'use', 'commercial use', 'MB', 'licence'],
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
