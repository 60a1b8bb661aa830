import { useSignedInSession } from '../api/session.ts'
import { formatAmount } from '../format/amount.ts'

/** Shows an amount in the currency of the account, exact to the micro-unit. */
export function MoneyAmount({ micros }: { readonly micros: string | bigint }) {
  const { currency } = useSignedInSession()
  return (
    <span
      className="fg-mono"
      style={{ whiteSpace: 'nowrap' }}
      title={`${micros} micro-${currency}`}
    >
      {formatAmount(micros)} {currency}
    </span>
  )
}
