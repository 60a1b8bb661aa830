import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { skipWithoutBrowser } from '../../../support/console/browser/chromium.ts'
import {
  openConsoleBrowser,
  type ConsoleBrowser,
} from '../../../support/console/browser/console-browser.ts'
import { sequentialTests } from '../../../support/console/browser/sequential-tests.ts'
import { personPicture, pictureVision } from '../../../support/console/subjects/person-pictures.ts'
import { assertOk } from '../../../support/console/test-console.ts'

const imagesOf = async (deviation: number) => {
  const bytes = (await personPicture({ name: 'Ann', deviation })).toString('base64')
  return [{ kind: 'image', bytes, contentType: 'image/jpeg' }]
}

describe('An admin displays the picture of a near miss', { skip: skipWithoutBrowser }, () => {
  let browser: ConsoleBrowser
  let page: Page
  let dialog: Locator
  let requestId: string
  const step = sequentialTests()

  before(async () => {
    browser = await openConsoleBrowser({ vision: pictureVision({ name: 'Zoe' }) })
    page = browser.page
    dialog = page.getByRole('dialog')
  })
  after(() => browser?.[Symbol.asyncDispose]())

  const region = (of: Page = page) => of.getByRole('region', { name: 'Picture of the near miss' })

  async function openCall(id: string, of: Page = page): Promise<void> {
    const { owner, url } = browser.testConsole
    const { items } = assertOk(await owner.get(`/log?requestId=${id}`)).body
    await of.goto(`${url}/log?call=${items[0].callId}`)
    await of.getByRole('dialog').getByText(id).waitFor()
  }

  step('The project keeps pictures for three hours', async () => {
    const { owner, projectId } = browser.testConsole
    const settings = async () => {
      const { switches, nearMissHours } = assertOk(await owner.get(`/projects/${projectId}`)).body
      return [switches.nearMissCrops, nearMissHours]
    }
    assert.deepEqual(await settings(), [false, 24])
    await browser.goto(`/projects/${projectId}`)
    await page.getByRole('switch', { name: 'Keep pictures of near misses' }).click()
    await page.getByText('Keep pictures of near misses is on.').waitFor()
    const hours = page.getByLabel('Pictures of near misses (hours)')
    await hours.fill('')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Enter a number from 1 to 72').waitFor()
    await hours.fill('3')
    await page.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('are kept for 3 hours instead of 24. This deletes').waitFor()
    await dialog.getByRole('textbox').fill('default')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Settings saved.').waitFor()
    assert.deepEqual(await settings(), [true, 3])
  })

  step('The picture is displayed on request, and each display is audited', async () => {
    const { gallery, owner } = browser.testConsole
    await gallery.value('svc.enroll', { images: await imagesOf(0) })
    const images = await imagesOf(1.6)
    const { bestMatch } = await gallery.value('svc.identify', { images, threshold: 0 })
    requestId = randomUUID()
    const threshold = bestMatch.similarity + 0.03
    await gallery.value('svc.identify', { images, threshold }, { requestId })
    await openCall(requestId)
    await region()
      .getByText(/kept for another (?:2 h 59|3 h 0) min/u)
      .waitFor()
    const displays = async () =>
      assertOk(await owner.get('/audit?auditAction=log.showPicture')).body.items.length
    assert.equal(await displays(), 0)
    await browser.driver.inspectSchemes('near-miss')
    await region().getByRole('button', { name: 'Show the picture' }).click()
    const picture = region().getByRole('img', { name: 'Face of the near miss' })
    await picture.waitFor()
    await page.waitForFunction('document.querySelector("section img")?.naturalWidth === 240')
    assert.equal(await displays(), 1)
    await browser.driver.inspectSchemes('near-miss-picture')
    await page.keyboard.press('Enter')
    await picture.waitFor({ state: 'detached' })
    await region().getByRole('button', { name: 'Show the picture' }).waitFor()
    await page.keyboard.press('Enter')
    await picture.waitFor()
    assert.equal(await displays(), 2)
    await page.keyboard.press('ArrowDown')
    await dialog.getByText('match', { exact: true }).waitFor()
    assert.equal(await region().count(), 0)
  })

  step('A viewer has no button', async () => {
    const viewer = await browser.openPage(await browser.testConsole.inviteMember('viewer'))
    await openCall(requestId, viewer)
    await region(viewer).getByText('Admins and owners can display it.').waitFor()
    assert.equal(await region(viewer).getByRole('button').count(), 0)
  })

  step('After the pictures are switched off, the call offers none', async () => {
    const { owner, projectId } = browser.testConsole
    await openCall(requestId)
    const switches = { nearMissCrops: false }
    const confirmedLosses = { nearMisses: 1 }
    assertOk(await owner.send('PATCH', `/projects/${projectId}`, { switches, confirmedLosses }))
    await region().getByRole('button', { name: 'Show the picture' }).click()
    await region().getByText('No picture of this call is stored.').waitFor()
    await openCall(requestId)
    assert.equal(await region().count(), 0)
  })

  step('Off and a shorter time are confirmed with the number of pictures', async () => {
    const { gallery, owner, projectId } = browser.testConsole
    const switches = { nearMissCrops: true }
    assertOk(await owner.send('PATCH', `/projects/${projectId}`, { switches }))
    const images = await imagesOf(1.6)
    const { bestMatch } = await gallery.value('svc.identify', { images, threshold: 0 })
    await gallery.value('svc.identify', { images, threshold: bestMatch.similarity + 0.03 })
    await browser.goto(`/projects/${projectId}`)
    await page.getByLabel('Pictures of near misses (hours)').fill('2')
    await page.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('are kept for 2 hours instead of 3. This deletes').waitFor()
    await dialog.getByText('0 pictures').waitFor()
    await browser.driver.inspectSchemes('shorter-near-misses')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('switch', { name: 'Keep pictures of near misses' }).click()
    await dialog.getByText('1 picture', { exact: true }).waitFor()
    await dialog.getByRole('textbox').fill('default')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Keep pictures of near misses is off.').waitFor()
    await dialog.waitFor({ state: 'detached' })
    assert.equal(
      (await gallery.database.store.db.selectFrom('nearMissCrops').select('cropId').execute())
        .length,
      0,
    )
  })
})
