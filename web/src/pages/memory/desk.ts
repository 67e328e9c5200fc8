// What the panes of this page get besides what every pane gets.
import type { Desk } from '../../frame/context';
import type { Guide, Guided } from './guide';

export interface MemoryDesk extends Desk {
  readonly guide: Guide;
  readonly guided: Guided; // its snapshot
}
