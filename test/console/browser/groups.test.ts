import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { endUserSessions } from '../../../src/store/console/sessions.ts'
import { fitsWidth, skipWithoutBrowser } from '../../support/console/browser/chromium.ts'
import {
  desktopViewport,
  openConsoleBrowser,
  phoneViewport,
  type ConsoleBrowser,
} from '../../support/console/browser/console-browser.ts'
import { sequentialTests } from '../../support/console/browser/sequential-tests.ts'
import { personPicture, pictureVision } from '../../support/console/subjects/person-pictures.ts'
import { assertOk, validPassword } from '../../support/console/test-console.ts'

/** On a phone, the headers of a table are hidden. */
const hiddenTabStopsScript = `[...document.querySelectorAll('thead :is(a, button, input)')]
  .filter((element) => element.checkVisibility({ visibilityProperty: true }))
  .map(({ innerText }) => innerText)`

describe('Groups and subjects in the console', { skip: skipWithoutBrowser }, () => {
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
    await page.keyboard.press('Escape')
    await drawer().waitFor({ state: 'detached' })
    await page.getByRole('columnheader', { name: 'Group' }).waitFor({ state: 'attached' })
    assert.deepEqual(await page.evaluate(hiddenTabStopsScript), [])
    await page.setViewportSize(desktopViewport)
    assert.deepEqual([driver.violations, browser.pageErrors.messages], [[], []])
  })

  step('A saved subject keeps the focus, and what another user changed meanwhile', async () => {
    const { page, goto, testConsole } = browser
    const { owner, projectId } = testConsole
    const path = `/projects/${projectId}/subjects`
    const [{ subjectId }] = (await owner.get(`${path}?q=Ben`)).body.items
    const subject = page.getByRole('dialog', { name: 'Subject', exact: true })
    const save = subject.getByRole('button', { name: 'Save', exact: true })
    await goto(`/subjects?subject=${subjectId}`)
    await subject.getByLabel('Attributes').fill('{"team": "a"}')
    const other = { externalId: 'b-7', attributes: { badge: 4 } }
    assertOk(await owner.send('PATCH', `${path}/${subjectId}`, other))
    await save.press('Enter')
    await page.getByText('Subject saved.').waitFor()
    await save.and(page.locator(':focus')).waitFor()
    await subject.getByLabel('External id').and(page.locator('[value="b-7"]')).waitFor()
    assert.match(await subject.getByLabel('Attributes').inputValue(), /"badge": 4/u)
    const { attributes, externalId } = (await owner.get(`${path}/${subjectId}`)).body
    assert.deepEqual([attributes, externalId], [{ team: 'a', badge: 4 }, 'b-7'])
    await save.press('Enter')
    await page.getByText('Nothing was changed.').waitFor()
    await save.and(page.locator(':focus')).waitFor()
  })

  step('After the end of a session names are hidden, and typed input is kept', async () => {
    const { page, testConsole } = browser
    const { owner, gallery } = testConsole
    const { userId } = (await owner.get('/session')).body.user
    const name = page.getByRole('dialog', { name: 'Subject' }).getByLabel('Display name')
    await name.fill('Ben Arc')
    await gallery.database.store.write((tx) => endUserSessions(tx, userId))
    // Another request of the page can also show the dialog.
    await page.evaluate(`document.querySelector('[role=dialog] form').requestSubmit()`)
    const signIn = page.getByRole('dialog', { name: 'Your session has ended' })
    await signIn.getByLabel(/^Password/u).fill(validPassword)
    assert.doesNotMatch(await page.locator('body').innerText(), /Ada|Ben|Cleo|crew/u)
    await page.keyboard.press('Enter')
    await signIn.waitFor({ state: 'detached' })
    assert.equal(await name.inputValue(), 'Ben Arc')
    await page.getByRole('button', { name: 'Save', exact: true }).press('Enter')
    await page.getByRole('button', { name: 'Open Ben Arc' }).waitFor()
  })
})
