import type { ActionInfo } from '../api/responses.ts'
import { callMicros } from '../format/call-micros.ts'
import { MoneyAmount } from './money-amount.tsx'

type Props = {
  readonly action: string
  readonly actions: readonly ActionInfo[]
  /** The number of charged images or calls. */
  readonly count: number
}

/** The price of a call before it is sent. A failed call is not charged. */
export function CallPrice({ action, actions, count }: Props) {
  const price = actions.find(({ name }) => name === action)?.price
  if (!price) return null
  return (
    <>
      {count > 1 ? 'At most ' : 'Price: '}
      <MoneyAmount micros={callMicros(price, count)} />
      {count > 1 ? ` for ${count}.` : ', only if the call succeeds.'}
    </>
  )
}
