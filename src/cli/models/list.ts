import { readActiveSet } from '../../models/active-set.ts'
import { listModels } from '../../models/installed-packs.ts'
import { printRows } from '../command.ts'
import { modelsFolder } from '../read-settings.ts'

type ListValues = { readonly commercial: boolean; readonly json: boolean }

export async function list({ commercial, json }: ListValues): Promise<void> {
  const folder = modelsFolder()
  const listed = await listModels(folder, await readActiveSet(folder))
  const models = commercial
    ? listed.filter(({ commercialUse }) => commercialUse === 'allowed')
    : listed
  printRows(models, json, {
    model: 'model',
    role: ({ roles }) => roles.join('+'),
    state: 'state',
    use: 'use',
    'commercial use': 'commercialUse',
    MB: ({ bytes }) => (bytes === null ? '?' : (bytes / 1e6).toFixed(1)),
    licence: ({ licence }) => (licence.length > 44 ? `${licence.slice(0, 43)}…` : licence),
  })
}
