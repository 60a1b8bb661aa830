import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { deletions } from '../../../src/cli/database/commands.ts'
import { runJson } from '../../support/cli/run-json.ts'
import { assertOk } from '../../support/console/test-console.ts'
import { fitsWidth, skipWithoutBrowser } from '../../support/console/browser/chromium.ts'
import {
  openConsoleBrowser,
  phoneViewport,
  type ConsoleBrowser,
} from '../../support/console/browser/console-browser.ts'
import { sequentialTests } from '../../support/console/browser/sequential-tests.ts'
import {
  personFile,
  personPicture,
  pictureVision,
} from '../../support/console/subjects/person-pictures.ts'

describe('The certificate of a deletion in the console', { skip: skipWithoutBrowser }, () => {
  let browser: ConsoleBrowser
  const step = sequentialTests()
  const enroll = async (name: string) => {
    const bytes = (await personPicture({ name })).toString('base64')
    const images = [{ kind: 'image', contentType: 'image/jpeg', bytes }]
    const { gallery } = browser.testConsole
    const { subjectId } = await gallery.value('svc.enroll', { images, displayName: name })
    return subjectId as string
  }

  before(async () => {
    browser = await openConsoleBrowser({ vision: pictureVision({ name: 'Zoe' }) })
    const subjectId = await enroll('Ada')
    await enroll('Ben')
    await browser.testConsole.gallery.value('svc.deleteSubject', { subjectId })
  })
  after(() => browser?.[Symbol.asyncDispose]())

  step('A record is signed, and the downloaded certificate is valid', async () => {
    const { page, driver, goto, testConsole } = browser
    await goto('/deletions')
    await page.getByRole('button', { name: /^Open the deletion of/u }).click()
    await driver.waitForHeading('Deletion of a subject')
    await page.getByRole('button', { name: 'Sign certificate' }).click()
    await page.getByText('What it does not prove').waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download JSON' }).click(),
    ])
    const { dataDir } = testConsole.gallery
    const verified = await runJson(dataDir, deletions, `verify ${await download.path()}`)
    assert.equal(verified.isInLedger, true)
    await page.getByText(verified.signature).waitFor()
    await driver.inspectSchemes('deletion')
  })

  step('The printed page contains the certificate without controls, in both schemes', async () => {
    const { page, driver } = browser
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ media: 'print', colorScheme })
      await page.getByText('What it proves', { exact: true }).waitFor()
      assert.equal(await page.getByRole('button').filter({ visible: true }).count(), 0)
      assert.equal(await page.getByRole('navigation').filter({ visible: true }).count(), 0)
      assert.equal(await page.getByText('Search for this face again').isVisible(), false)
      const colour = await page.evaluate<string>(
        `getComputedStyle(document.querySelector('.fg-panel dd')).color`,
      )
      assert.equal(colour, 'rgb(0, 0, 0)')
    }
    await page.emulateMedia({ media: 'screen', colorScheme: driver.scheme() })
  })

  step('A picture of the deleted person is searched again', async () => {
    const { page, driver } = browser
    const choose = async () =>
      page.locator('input[type=file]').setInputFiles(await personFile('ada.jpg', { name: 'Ada' }))
    await choose()
    await page.getByText(/^One call of svc.identify: /u).waitFor()
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await page.getByText('The face matches no subject of the gallery').waitFor()
    await page.getByText('Searched: 1 subject, threshold').waitFor()
    const again = await enroll('Ada')
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await page.getByText('The face matches Ada, similarity').waitFor()
    await page.setViewportSize(phoneViewport)
    assert.ok(await fitsWidth(page, phoneViewport.width))
    await driver.inspectSchemes('deletion-phone')
    await page.getByRole('link', { name: 'Open the matched subject' }).click()
    await driver.waitForHeading('Subjects')
    assert.equal(new URL(page.url()).searchParams.get('subject'), again)
    assert.deepEqual([driver.violations, browser.pageErrors.messages], [[], []])
  })

  step('A project is deleted on its page after its name is typed', async () => {
    const { page, driver, goto, testConsole } = browser
    const settings = { name: 'closed', galleryMode: 'isolated' }
    const { projectId } = assertOk(await testConsole.owner.send('POST', '/projects', settings)).body
    await goto(`/projects/${projectId}`)
    await page.getByRole('button', { name: 'Delete project' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('0 subjects of the gallery that only this project uses').waitFor()
    await driver.inspectSchemes('project-deletion')
    const confirm = dialog.getByRole('button', { name: 'Delete project' })
    assert.equal(await confirm.isDisabled(), true)
    await dialog.getByLabel('Type closed to confirm').fill('closed')
    await confirm.click()
    await page.getByText('The project closed is deleted.').waitFor()
    await driver.waitForHeading('Projects')
    await page.getByRole('cell', { name: 'default' }).waitFor()
    assert.equal(await page.getByRole('cell', { name: 'closed' }).count(), 0)
    assert.equal((await testConsole.owner.get(`/projects/${projectId}`)).status, 404)
    assert.deepEqual([driver.violations, browser.pageErrors.messages], [[], []])
  })
})
