import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { skipWithoutBrowser, fitsWidth } from '../../support/console/browser/chromium.ts'
import {
  openConsoleBrowser,
  phoneViewport,
  type ConsoleBrowser,
} from '../../support/console/browser/console-browser.ts'
import { fillPeople } from '../../support/console/fill-people.ts'
import { drawnFace, sendFakeImages } from '../../support/console/browser/drawn-faces.ts'
import { sequentialTests } from '../../support/console/browser/sequential-tests.ts'
import { assertOk } from '../../support/console/test-console.ts'
import { createTestClient } from '../../support/facegate/test-facegate.ts'
import { imageParams } from '../../support/gallery/test-gallery.ts'

const pollMs = 61_000

describe('An owner manages keys and compares two pictures', { skip: skipWithoutBrowser }, () => {
  let browser: ConsoleBrowser
  let key = ''
  const step = sequentialTests()
  const call = (secret: string) =>
    createTestClient(browser.testConsole.url, secret).post({
      action: 'svc.detect',
      params: imageParams('Ada'),
    })
  /** Copies the shown key and closes its dialog. */
  const takeKey = async (): Promise<string> => {
    const { page } = browser
    await page.getByLabel('I have copied it').waitFor()
    const text = (await page.locator('pre').innerText()).trim()
    await page.getByLabel('I have copied it').check()
    await page.getByRole('button', { name: 'Done' }).click()
    return text
  }

  const inspectDark = (name: string) => browser.driver.inspect(name, 'dark')

  before(async () => {
    browser = await openConsoleBrowser()
  })
  after(() => browser?.[Symbol.asyncDispose]())

  step('A new key gets the permissions of a preset, and none to delete by default', async () => {
    const { page, driver, goto } = browser
    await page.clock.install()
    await goto('/keys')
    await page.getByRole('button', { name: 'Create key' }).first().click()
    const dialog = page.getByRole('dialog')
    const box = (permission: string) =>
      dialog.getByRole('checkbox', { name: permission, exact: true })
    await box('svc.enroll').waitFor()
    assert.ok(await box('svc.enroll').isChecked())
    assert.equal(await box('svc.deleteSubject').isChecked(), false)
    await dialog.getByLabel('Name').fill('kiosk')
    await dialog.getByRole('combobox', { name: 'Preset' }).click()
    await page.getByRole('option', { name: 'Kiosk: identify only' }).click()
    assert.equal(await dialog.getByRole('checkbox', { checked: true }).count(), 1)
    await driver.inspect('key-create', 'light')
    await driver.createKeyWithExpiry('90 days')
    key = await takeKey()
    assert.equal((await call(key)).body.errors[0].code, 'FORBIDDEN')
  })

  step('A changed key works with its new permissions, and its use appears by itself', async () => {
    const { page, driver } = browser
    await page.getByRole('button', { name: 'Open kiosk' }).click()
    await page.getByRole('button', { name: 'Edit' }).click()
    const dialog = page.getByRole('dialog', { name: 'Edit API key' })
    await dialog.getByLabel('Name').fill('door')
    await dialog.getByRole('checkbox', { name: 'svc.detect', exact: true }).check()
    await driver.inspect('key-edit', 'light')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'door' }).waitFor()
    assert.equal((await call(key)).body.ok, true)
    await page.clock.fastForward(pollMs)
    const drawer = page.getByRole('dialog', { name: 'door' })
    await drawer.getByRole('link', { name: '2 calls of door in 24 hours' }).waitFor()
    await drawer.getByRole('link', { name: '1 failed calls of door in 30 days' }).waitFor()
    await driver.inspect('key-details', 'light')
    await inspectDark('key-details')
  })

  step('A rotated key has two secrets until the former one is ended', async () => {
    const { page, driver } = browser
    await page.getByRole('button', { name: 'Rotate', exact: true }).click()
    await page.getByRole('radio', { name: '7 days' }).check()
    await driver.inspect('key-rotate', 'light')
    await page.getByRole('button', { name: 'Rotate key' }).click()
    const rotated = await takeKey()
    assert.notEqual(rotated, key)
    for (const secret of [key, rotated]) assert.equal((await call(secret)).body.ok, true)
    const drawer = page.getByRole('dialog', { name: 'door' })
    await drawer.getByText('is valid until').waitFor()
    await driver.inspect('key-overlap', 'light')
    await drawer.getByRole('button', { name: 'End the former secret now' }).click()
    await drawer
      .getByText(`…${key.slice(-4)}`)
      .locator('..')
      .getByText('ended')
      .waitFor()
    assert.equal((await call(key)).status, 401)
    assert.equal((await call(rotated)).body.ok, true)
  })

  step('The revocation of a key also ends its former secret', async () => {
    const { testConsole, goto, page } = browser
    const { owner, projectId } = testConsole
    const body = { projectId, name: 'gate', permissions: ['svc.detect'] }
    const { keyId } = assertOk(await owner.send('POST', '/keys', body)).body
    assertOk(await owner.send('POST', `/keys/${keyId}/rotate`, { overlapHours: 168 }))
    assertOk(await owner.send('POST', `/keys/${keyId}/revoke`, { confirm: 'gate' }))
    await goto('/keys')
    await page.getByRole('button', { name: 'Open gate' }).click()
    const drawer = page.getByRole('dialog', { name: 'gate' })
    await drawer.getByText(/^…\w{4} ended/u).waitFor()
    assert.equal(await drawer.getByText('is valid until').count(), 0)
    await page.keyboard.press('Escape')
  })

  step('The usage of a key opens its calls in the request log', async () => {
    const { page, goto } = browser
    await goto('/keys')
    await page.getByRole('link', { name: '1 failed calls of door in 24 hours' }).click()
    await browser.driver.waitForHeading('Request log')
    await page.getByRole('cell', { name: /^Forbidden/u }).waitFor()
    assert.equal(await page.getByRole('cell', { name: 'svc.detect', exact: true }).count(), 1)
    await page.setViewportSize(phoneViewport)
    await goto('/keys')
    await page
      .getByRole('link', { name: /calls of door/u })
      .first()
      .waitFor()
    assert.ok(await fitsWidth(page, phoneViewport.width))
    await browser.driver.inspect('keys-phone', 'light')
  })

  step('Two pictures are compared after their price is stated', async () => {
    const { page, driver, goto } = browser
    await goto('/pair-tester')
    await page.getByText('Add 2 images.').waitFor()
    const pictures = [await drawnFace('left.png'), await drawnFace('right.png')]
    await page.locator('input[type=file]').setInputFiles(pictures)
    await page.getByText(/^One call of svc.verify: 0.002/u).waitFor()
    await sendFakeImages(page, ['Ada', { name: 'Ada', deviation: 0.5, quality: 40 }])
    await page.getByRole('button', { name: 'Compare' }).click()
    const result = page.locator('output')
    await result.getByText(/^False-match rate at this similarity: /u).waitFor()
    await result.getByText('Image 1: the quality is 40 of 100').waitFor()
    await result.getByRole('img', { name: 'Aligned face of image 1' }).waitFor()
    assert.equal(await result.getByRole('row', { name: /no match/u }).count(), 0)
    assert.ok(await fitsWidth(page, phoneViewport.width))
    await driver.inspect('pair-tester-phone', 'light')
    await page.setViewportSize({ width: 1440, height: 1600 })
    await driver.inspect('pair-tester-result', 'light')
    await inspectDark('pair-tester-result')
    await page.unrouteAll()
    await sendFakeImages(page, ['Ada', 'Bob'])
    await page.getByRole('button', { name: 'Compare' }).click()
    await result.getByText('No match', { exact: true }).waitFor()
  })

  step(
    'A calibration stays open after a reload, leaves out confirmed duplicates and states its changes',
    async () => {
      const { page, driver, goto, testConsole } = browser
      const { gallery, projectId } = testConsole
      const { db } = gallery.database.store
      const account = await db.selectFrom('accounts').select('accountId').executeTakeFirstOrThrow()
      const more = { 'person-5b': { name: 'person 5', deviation: 0.5 } }
      await fillPeople(gallery, { projectId, ...account }, { count: 200, more })
      await goto('/models')
      await page.getByRole('button', { name: 'Calibrate a gallery' }).click()
      const dialog = page.getByRole('dialog', { name: 'Calibrate a gallery' })
      await dialog.getByRole('combobox', { name: 'Project of the gallery' }).click()
      await page.getByRole('option', { name: 'default', exact: true }).click()
      await dialog.getByRole('button', { name: 'Calculate' }).click()
      const facts = dialog.getByText(/pairs of different people.*0.80 now at score/u)
      await facts.waitFor()
      await page.reload()
      await facts.waitFor()
      await dialog.locator('.recharts-surface').first().waitFor()
      await driver.inspect('calibration-distribution', 'light')
      await inspectDark('calibration-distribution')
      const pair = dialog.getByRole('row').filter({ hasText: 'person-5b' })
      assert.match(
        (await pair.getByRole('link', { name: 'person-5b' }).getAttribute('href')) ?? '',
        /^\/subjects\?.*subject=/u,
      )
      await pair.getByRole('button', { name: /^Merge .*person-5b/u }).click()
      const merge = page.getByRole('dialog', { name: 'Merge two subjects' })
      await merge.getByRole('radio', { name: /^person-5b/u }).waitFor()
      await merge.getByRole('button', { name: 'Cancel' }).click()
      await merge.waitFor({ state: 'detached' })
      await dialog.getByRole('checkbox', { name: /^Same person: .*person-5b/u }).check()
      const apply = dialog.getByRole('button', { name: 'Apply', exact: true })
      assert.ok(await apply.isDisabled(), 'the ticked pair is still in the table')
      await dialog.getByRole('button', { name: 'Calculate again' }).click()
      await dialog.getByText('Left out: 1 confirmed duplicates').waitFor()
      await apply.click()
      const confirmation = page.getByRole('dialog', { name: 'Apply calibration' })
      await confirmation.getByRole('row', { name: /^0.80 .* (?:stricter|looser)$/u }).waitFor()
      await confirmation.getByText(/^About \d+ of the 2 similarities/u).waitFor()
      await driver.inspect('calibration-changes', 'light')
      await confirmation.getByLabel(/to confirm$/u).fill('default')
      await confirmation.getByRole('button', { name: 'Apply', exact: true }).click()
      await dialog.waitFor({ state: 'detached' })
      await page.getByText(/201 subjects, .* by Olga/u).waitFor()
      await page.getByRole('button', { name: 'Revert' }).click()
      await page
        .getByRole('dialog', { name: 'Revert calibration' })
        .getByText('Score after')
        .waitFor()
    },
  )

  step('No page has an accessibility violation or an error', async () => {
    assert.deepEqual(browser.driver.violations, [])
    assert.deepEqual(browser.pageErrors.messages, [])
  })
})
