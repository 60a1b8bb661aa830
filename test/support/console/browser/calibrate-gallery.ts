import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import { readTemplateModel } from '../../../../src/models/template/template-model.ts'
import { openTestStore } from '../../database/engine.ts'
import type { ConsoleDriver } from './console-driver.ts'
import { fillPeople } from '../fill-people.ts'

/** Enrolls 201 subjects in the project `default`, of which two are one person. */
async function fillDefaultProject(dataDir: string): Promise<void> {
  const store = await openTestStore(dataDir)
  const query = store.db.selectFrom('projects').select(['projectId', 'accountId'])
  const project = await query.where('name', '=', 'default').executeTakeFirstOrThrow()
  const { modelId } = await readTemplateModel()
  const more = { 'person-5b': { name: 'person 5', deviation: 0.5 } }
  const gallery = { dataDir, database: { store } }
  await fillPeople(gallery, { ...project, modelId }, { count: 200, more })
  await store.close()
}

/** Calculates the calibration, leaves out the person enrolled twice, and applies the table. */
export async function calibrateDefaultProject(
  page: Page,
  driver: ConsoleDriver,
  dataDir: string,
): Promise<void> {
  await fillDefaultProject(dataDir)
  const dialog = page.getByRole('dialog', { name: 'Calibrate a gallery' })
  await driver.open('Models')
  await page.getByRole('button', { name: 'Calibrate a gallery' }).click()
  await dialog.getByRole('combobox', { name: 'Project of the gallery' }).click()
  await page.getByRole('option', { name: 'default', exact: true }).click()
  await dialog.getByRole('button', { name: 'Calculate' }).click()
  const person = dialog.getByRole('checkbox', { name: /^Same person: .*person-5b/u })
  await person.waitFor()
  await dialog.locator('.recharts-surface').first().waitFor()
  await driver.inspect('calibration', 'light')
  await person.check()
  const apply = dialog.getByRole('button', { name: 'Apply', exact: true })
  assert.ok(await apply.isDisabled(), 'the ticked pair is still in the table')
  await dialog.getByRole('button', { name: 'Calculate again' }).click()
  await dialog.getByText('Left out: 1 confirmed duplicates').waitFor()
  await apply.click()
  const confirmation = page.getByRole('dialog', { name: 'Apply calibration' })
  await confirmation.getByLabel(/to confirm$/u).fill('default')
  await driver.inspect('calibration-apply', 'light')
  await confirmation.getByRole('button', { name: 'Apply', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText(/201 subjects, .* by Olga/u).waitFor()
}
