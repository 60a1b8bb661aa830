import assert from 'node:assert/strict'
import type { ElementHandle, Locator, Page } from 'playwright-core'

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
      await comboboxTimer(page)
      for (let step = 0; step < stepsMax; step++) {
        if ((await chosen.getAttribute('data-combobox-selected')) !== null) break
        await page.keyboard.press('ArrowDown')
      }
      await page.keyboard.press('Enter')
      await chosen.waitFor({ state: 'hidden' })
    },
  }
}

/**
 * Waits for the timer of 0 ms in which a combobox that opens resets its selected option. Timers of one
 * duration end in their order. A key before it would select an option that Enter does not choose.
 */
async function comboboxTimer(page: Page): Promise<void> {
  await page.evaluate('new Promise((resolve) => setTimeout(resolve, 0))')
}

/** More controls than a page has. */
const stepsMax = 200

/** Presses Tab until the control has the focus. */
async function tabTo(page: Page, control: Locator): Promise<void> {
  // The control is searched once: a search by its role computes the names of all controls of a page.
  let element = await attachedElement(control)
  for (let step = 0; step < stepsMax; step++) {
    const focus = await element.evaluate(focusOf)
    if (focus === 'here') return
    if (focus === 'replaced') element = await attachedElement(control)
    else await page.keyboard.press('Tab')
  }
  assert.fail(`Tab does not reach ${String(control)}`)
}

async function attachedElement(control: Locator): Promise<ElementHandle> {
  await control.waitFor()
  const element = await control.elementHandle()
  assert.ok(element)
  return element
}

/** The type check of the tests has no browser types. */
type DomElement = {
  readonly isConnected: boolean
  readonly ownerDocument: { readonly activeElement: unknown }
}

/** Returns whether an element has the focus, or is no longer in the page after a rendering. */
function focusOf(node: unknown): 'here' | 'elsewhere' | 'replaced' {
  const element = node as DomElement
  if (!element.isConnected) return 'replaced'
  return element.ownerDocument.activeElement === element ? 'here' : 'elsewhere'
}
