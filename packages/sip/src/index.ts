export { type Clock, type ClockTimer, systemClock } from './clock.ts';
