import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { fitsWidth, skipWithoutBrowser } from '../../support/console/browser/chromium.ts'
import {
  openConsoleBrowser,
  phoneViewport,
  type ConsoleBrowser,
} from '../../support/console/browser/console-browser.ts'
import { sequentialTests } from '../../support/console/browser/sequential-tests.ts'
import { personPicture, pictureVision } from '../../support/console/subjects/person-pictures.ts'
import { assertOk } from '../../support/console/test-console.ts'

describe('The groups page of the console', { skip: skipWithoutBrowser }, () => {
  let browser: ConsoleBrowser
  const step = sequentialTests()
  const peopleOf = async (group: string): Promise<string[]> => {
    const { owner, projectId } = browser.testConsole
    const { body } = assertOk(await owner.get(`/projects/${projectId}/subjects?group=${group}`))
    return body.items.map(({ displayName }: { displayName: string }) => displayName).toSorted()
  }
  const drawer = () => browser.page.getByRole('dialog', { name: /^Group / })

  before(async () => {
    browser = await openConsoleBrowser({ vision: pictureVision({ name: 'Zoe' }) })
    const { gallery, owner, projectId } = browser.testConsole
    const switches = { storeCrops: true }
    assertOk(await owner.send('PATCH', `/projects/${projectId}`, { switches }))
    for (const [name, ...groups] of [['Ada', 'staff'], ['Ben', 'staff'], ['Cleo']] as const) {
      const bytes = (await personPicture({ name })).toString('base64')
      const images = [{ kind: 'image', contentType: 'image/jpeg', bytes }]
      await gallery.value('svc.enroll', { images, displayName: name, groups })
    }
  })
  after(() => browser?.[Symbol.asyncDispose]())

  step('A group shows its people with their faces; one is removed and another added', async () => {
    const { page, driver, goto } = browser
    await goto('/groups')
    await page.getByRole('button', { name: 'Open group staff' }).click()
    await drawer().getByRole('link', { name: 'Ada' }).waitFor()
    await drawer().locator('img').first().waitFor()
    await driver.inspectSchemes('group')
    await drawer().getByRole('button', { name: 'Remove Ben' }).click()
    await drawer().getByRole('link', { name: 'Ben' }).waitFor({ state: 'detached' })
    assert.deepEqual(await peopleOf('staff'), ['Ada'])
    await drawer().getByLabel('Name or id').fill('Cle')
    await drawer().getByRole('button', { name: 'Add Cleo' }).click()
    await drawer().getByRole('button', { name: 'Remove Cleo' }).waitFor()
    assert.deepEqual(await peopleOf('staff'), ['Ada', 'Cleo'])
  })

  step('A group is renamed, and its deletion shows the people and their number first', async () => {
    const { page, driver } = browser
    await drawer().getByRole('button', { name: 'Rename' }).click()
    const rename = page.getByRole('dialog', { name: 'Rename group staff' })
    await rename.getByLabel('New name').fill('-')
    await rename.getByText(/^-: use 1 to 64 of the characters/u).waitFor()
    await rename.getByLabel('New name').fill('crew')
    await rename.getByRole('button', { name: 'Rename group' }).click()
    await page.getByRole('dialog', { name: 'Group crew' }).waitFor()
    assert.equal(new URL(page.url()).searchParams.get('group'), 'crew')
    assert.deepEqual(await peopleOf('crew'), ['Ada', 'Cleo'])
    await drawer().getByRole('button', { name: 'Delete subjects' }).click()
    const remove = page.getByRole('dialog', { name: 'Delete all subjects in group crew' })
    await remove.getByText('2 subjects', { exact: true }).waitFor()
    await remove.getByText('Cleo').waitFor()
    await driver.inspectSchemes('group-delete')
    await page.keyboard.press('Escape')
    await remove.waitFor({ state: 'detached' })
    await page.setViewportSize(phoneViewport)
    assert.ok(await fitsWidth(page, phoneViewport.width))
    await driver.inspectSchemes('group-phone')
    assert.deepEqual([driver.violations, browser.pageErrors.messages], [[], []])
  })
})
