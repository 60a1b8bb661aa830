import type { Transfer } from '../api/answers.ts'
import { Facts } from '../parts/facts.tsx'
import { Money } from '../parts/money.tsx'
import { SideSheet } from '../parts/side-sheet.tsx'
import { Utc } from '../parts/utc.tsx'
import { Postings } from './postings.tsx'

type Parts = { readonly transfer: Transfer; readonly onClose: () => void }

/** One movement with its postings. */
export function TransferSheet({ transfer, onClose }: Parts) {
  return (
    <SideSheet title="Movement" onClose={onClose}>
      <Facts
        facts={{
          'Time (UTC)': <Utc at={transfer.atUtc} />,
          Kind: transfer.kind,
          Amount: <Money micros={transfer.amountMicros} />,
          Project: transfer.projectName ?? '–',
          'Request id': transfer.requestId ?? '–',
          'Transfer id': <span className="fg-mono">{transfer.transferId}</span>,
        }}
      />
      <Postings postings={transfer.postings} />
    </SideSheet>
  )
}
