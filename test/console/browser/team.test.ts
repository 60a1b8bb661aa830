import assert from 'node:assert/strict'
import { after, before, describe } from 'node:test'
import { skipWithoutBrowser, fitsWidth } from '../../support/console/browser/chromium.ts'
import {
  openConsoleBrowser,
  phoneViewport,
  type ConsoleBrowser,
} from '../../support/console/browser/console-browser.ts'
import { sequentialTests } from '../../support/console/browser/sequential-tests.ts'
import { assertOk, validPassword } from '../../support/console/test-console.ts'

describe('An owner manages the open links of the team', { skip: skipWithoutBrowser }, () => {
  let browser: ConsoleBrowser
  let token = ''
  const step = sequentialTests()
  const row = () => browser.page.getByRole('row').filter({ hasText: 'Ann' })

  before(async () => {
    browser = await openConsoleBrowser()
    const { owner } = browser.testConsole
    const invite = { name: 'Ann', role: 'owner' }
    const { inviteLink } = assertOk(await owner.send('POST', '/users', invite)).body
    token = new URL(inviteLink).hash.slice(1)
  })
  after(() => browser?.[Symbol.asyncDispose]())

  step('The team shows until when a link is open, and who created it', async () => {
    const { page, driver, goto } = browser
    await goto('/team')
    await row()
      .getByText(/^until .* by Olga$/u)
      .waitFor()
    await driver.inspect('team-open-link', 'light')
    await page.setViewportSize(phoneViewport)
    await row().getByRole('button', { name: 'Revoke the link of Ann' }).waitFor()
    assert.ok(await fitsWidth(page, phoneViewport.width))
  })

  step('An owner revokes the link by typing the name', async () => {
    const { page, driver, testConsole } = browser
    await row().getByRole('button', { name: 'Revoke the link of Ann' }).click()
    const dialog = page.getByRole('dialog')
    const confirm = dialog.getByRole('button', { name: 'Revoke link' })
    await confirm.waitFor()
    assert.ok(await confirm.isDisabled())
    await driver.inspect('team-revoke-link', 'light')
    await dialog.getByRole('textbox').fill('Ann')
    await confirm.click()
    await dialog.waitFor({ state: 'detached' })
    await row().getByText('none', { exact: true }).waitFor()
    const setUp = { token, password: validPassword }
    assert.equal((await testConsole.newClient().send('POST', '/setup', setUp)).status, 404)
  })
})
