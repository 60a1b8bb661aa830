import { useSignedIn } from '../api/session.ts'
import { amountOf } from './amount.ts'

/** An amount in the currency of the account, exact to the micro-unit. */
export function Money({ micros }: { readonly micros: string | bigint }) {
  const { currency } = useSignedIn()
  return (
    <span
      className="fg-mono"
      style={{ whiteSpace: 'nowrap' }}
      title={`${micros} micro-${currency}`}
    >
      {amountOf(micros)} {currency}
    </span>
  )
}
