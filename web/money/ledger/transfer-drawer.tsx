import type { ConsoleTransfer } from '../../api/responses.ts'
import { DefinitionList } from '../../components/definition-list.tsx'
import { MoneyAmount } from '../money-amount.tsx'
import { DetailDrawer } from '../../components/detail-drawer.tsx'
import { UtcTime } from '../../components/utc-time.tsx'
import { transferKindText } from './ledger-text.ts'
import { PostingTable } from './posting-table.tsx'

type Props = { readonly transfer: ConsoleTransfer; readonly onClose: () => void }

/** Shows one transfer with its postings. */
export function TransferDrawer({ transfer, onClose }: Props) {
  return (
    <DetailDrawer title="Transfer" onClose={onClose}>
      <DefinitionList
        items={{
          'Time (UTC)': <UtcTime withLocal timestampUtc={transfer.atUtc} />,
          Kind: transferKindText(transfer.kind),
          Amount: <MoneyAmount micros={transfer.amountMicros} />,
          Project: transfer.projectName ?? '–',
          'Request id': transfer.requestId ?? '–',
          'Transfer id': <span className="fg-mono">{transfer.transferId}</span>,
        }}
      />
      <PostingTable transfer={transfer} />
    </DetailDrawer>
  )
}
