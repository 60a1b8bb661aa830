import assert from 'node:assert/strict'
import type { Locator, Page } from 'playwright-core'

/** How a user operates a page. */
export type Hands = {
  /** Activates a button, a link or a switch. */
  readonly press: (control: Locator) => Promise<void>
  /** Replaces the text of a field. */
  readonly type: (field: Locator, text: string) => Promise<void>
  /** Chooses an option of a combobox. */
  readonly choose: (combobox: Locator, option: string) => Promise<void>
}

/** Operates a page with the pointer, as on a phone. */
export function pointerHands(page: Page): Hands {
  return {
    press: (control) => control.click(),
    type: (field, text) => field.fill(text),
    choose: async (combobox, option) => {
      await combobox.click()
      await page.getByRole('option', { name: option }).first().click()
    },
  }
}

/** Operates a page with the keyboard only. A control that Tab does not reach is an error. */
export function keyboardHands(page: Page): Hands {
  return {
    press: async (control) => {
      await tabTo(page, control)
      await page.keyboard.press((await control.getAttribute('type')) === 'checkbox' ? ' ' : 'Enter')
    },
    type: async (field, text) => {
      await tabTo(page, field)
      await page.keyboard.press('ControlOrMeta+a')
      await page.keyboard.type(text)
    },
    choose: async (combobox, option) => {
      await tabTo(page, combobox)
      const chosen = page.getByRole('option', { name: option }).first()
      if (!(await chosen.isVisible())) await page.keyboard.press('ArrowDown')
      await chosen.waitFor()
      for (let step = 0; step < stepsMax; step++) {
        if ((await chosen.getAttribute('data-combobox-selected')) !== null) break
        await page.keyboard.press('ArrowDown')
      }
      await page.keyboard.press('Enter')
      await chosen.waitFor({ state: 'hidden' })
    },
  }
}

/** More controls than a page has. */
const stepsMax = 200

async function tabTo(page: Page, control: Locator): Promise<void> {
  await control.waitFor()
  for (let step = 0; step < stepsMax; step++) {
    if (await isFocused(control)) return
    await page.keyboard.press('Tab')
  }
  assert.fail(`Tab does not reach ${String(control)}`)
}

/** The type check of the tests has no browser types. */
type DomElement = { readonly ownerDocument: { readonly activeElement: unknown } }

function isFocused(control: Locator): Promise<boolean> {
  return control.evaluate(
    (element) => (element as unknown as DomElement).ownerDocument.activeElement === element,
  )
}
